// Why it did what it did, as a sentence: the server's own in English, said again in Japanese, with messages instead of their ids.

import { excerpt } from "./dom.js";
import { gate, language, t } from "./words.js";

/** The engine's sentences and how they are said in Japanese; `#n` is a message. */
const JAPANESE = [
  [/^its own message\.$/, "自分の発言です。"],
  [/^an empty message\.$/, "空のメッセージです。"],
  [/^direct messages are switched off\.$/, "ダイレクトメッセージは無効です。"],
  [/^it does not listen in this channel\.$/, "ここでは聞いていません。"],
  [/^said by another bot\.$/, "ほかのボットの発言です。"],
  [/^said by another bot; heard, not answered\.$/, "ほかのボットの発言です。聞きましたが、答えません。"],
  [/^this message was heard before\.$/, "すでに聞いた発言です。"],
  [/^it arrived late; remembered, not answered\.$/, "遅れて届いた発言です。覚えましたが、答えません。"],
  [/^it arrived (.+) late, and (.+) are allowed; remembered, not answered\.$/, "$1遅れて届いた発言です（$2まで）。覚えましたが、答えません。"],
  [/^it was said (.+) before it could be heard, and is answered within (.+); remembered, not answered\.$/, "聞ける$1前の発言です（答えるのは$2まで）。覚えましたが、答えません。"],
  [/^it was said (.+) before it could be heard; remembered, not answered\.$/, "聞ける$1前の発言です。覚えましたが、答えません。"],
  [/^too many addressed it at once; it told them so together\.$/, "いちどに呼びかけた人が多すぎたので、まとめてそう伝えました。"],
  [/^(.+) mentioned it\.$/, "$1さんにメンションされました。"],
  [/^(.+) called its name\.$/, "$1さんに名前を呼ばれました。"],
  [/^(.+) replied to it\.$/, "$1さんから返信がありました。"],
  [/^(.+) told it to be quiet; muted for (.+)\.$/, "$1さんに静かにと言われ、$2のあいだ黙ります。"],
  [/^too little reason to speak\.$/, "話す理由が足りません。"],
  [/^reason enough without asking\.$/, "判定するまでもなく、十分な理由があります。"],
  [/^too little reason to speak \(at most (\d+)\)\.$/, "話す理由が足りません（$1点以下）。"],
  [/^too little reason to speak \(below (\d+)\)\.$/, "話す理由が足りません（$1点未満）。"],
  [/^reason enough without asking \(at least (\d+)\)\.$/, "判定するまでもなく、十分な理由があります（$1点以上）。"],
  [/^reason enough \(at least (\d+)\)\.$/, "十分な理由があります（$1点以上）。"],
  [/^the message is for somebody else\.$/, "ほかの人にあてた発言です。"],
  [/^another bot has answered already\.$/, "すでにほかのボットが答えました。"],
  [/^the budget of the day is spent \((.+) of (.+)\)\.$/, "今日の予算を使い切りました（$2のうち$1）。"],
  [/^(.+) % of the talk is its own, and its share is (.+) %\.$/, "会話の$1 %が自分の発言で、持ち分は$2 %です。"],
  [/^it spoke up (.+) ago and leaves at least (.+) in between\.$/, "$1前に話したばかりで、$2は間をあけます。"],
  [/^it has had its share of the talk and lets (\d+) more messages pass\.$/, "決められた割合だけ話したので、あと$1件は様子を見ます。"],
  [/^it would have said nearly the same again\.$/, "ほとんど同じことをもう一度言うところでした。"],
  [/^it has answered the same bot (\d+) times in a row, and (\d+) is enough\.$/, "同じボットに続けて$1回答えました。$2回で十分です。"],
  [/^it has heard (\d+) of the (\d+) messages it needs\.$/, "判断に必要な$2件のうち、まだ$1件しか聞いていません。"],
  [/^it is muted here\.$/, "ここではミュートされています。"],
  [/^a post of its own is on its way\.$/, "自分の投稿がまだ途中です。"],
  [/^these are quiet hours\.$/, "静かにしておく時間帯です。"],
  [/^it spoke last here\.$/, "最後に話したのは自分です。"],
  [/^it only answers when it is addressed\.$/, "呼ばれたときだけ答えます。"],
  [/^it has answered this person (\d+) times within the hour, and (\d+) is the limit\.$/, "この人には1時間に$1回答えました（上限$2回）。"],
  [/^held back\.$/, "控えました。"],
  [/^the conversation is ending\.$/, "会話が終わろうとしています。"],
  [/^nothing has changed since it last spoke here\.$/, "前に話してから何も変わっていません。"],
  [/^the judge said no\.$/, "判定役は「いいえ」と言いました。"],
  [/^the judge said no: (.+)$/, "判定役は「いいえ」と言いました：$1"],
  [/^the judge said yes(?: \(.+?\))?, and to wait (\S+(?: \S+)?): (.+)$/, "判定役は「はい、$1待って」と言いました：$2"],
  [/^the judge said yes(?: \(.+?\))?, and to wait (.+)\.$/, "判定役は「はい、$1待って」と言いました。"],
  [/^the judge said yes(?: \(.+?\))?: (.+)$/, "判定役は「はい」と言いました：$1"],
  [/^the judge said yes(?: \(.+?\))?\.$/, "判定役は「はい」と言いました。"],
  [/^the judge gave no usable answer \((.+)\)\.$/, "判定役から使える答えがありませんでした（$1）。"],
  [/^its words could not be written or posted \((.+)\)\.$/, "書くこと、または投稿ができませんでした（$1）。"],
  [/^(.+) asked, and it had to excuse itself \((.+)\)\.$/, "$1さんに聞かれましたが、答えられないとお詫びしました（$2）。"],
  [/^somebody spoke first \(cancelled by (.+)\)\.$/, "先に話した人がいます（$1）。"],
  [/^(.+) gave a better reason a moment later\.$/, "直後の $1 のほうが話す理由として適しています。"],
  [/^part of the talk around (.+), which is the better reason\.$/, "$1 をめぐる会話の一部で、そちらのほうが話す理由として適しています。"],
  [/^somebody answered \((.+)\)\.$/, "ほかの人が答えました（$1）。"],
  [/^it was addressed in (.+) and answers that\.$/, "$1 で呼びかけられ、そちらに答えます。"],
  [/^the message was deleted\.$/, "発言が削除されました。"],
  [/^the talk of this room was to be forgotten\.$/, "このルームの会話を忘れるように言われました。"],
  [/^it was overdue by (.+) when the program started\.$/, "起動したときには$1過ぎていました。"],
  [/^it found nothing to say\.$/, "言うことが見つかりませんでした。"],
  [/^not decided yet\.$/, "まだ決まっていません。"],
];

/** What was learnt, behind the reason: how likely somebody joins, what it was compared with, and why. */
const LIKELIHOOD = / A newcomer would join here with (.+?)(?: \((threshold [^)]+)\))?(?:: ([^.]+))?\.(?: It was [a-z ]+\.)?$/;

/** What spoke for joining or against it. */
const BECAUSE = {
  "it calls on everybody": "みんなに呼びかけている",
  "it asks a question": "質問している",
  "its author has asked a question": "少し前に質問した人の発言",
  "it asks nothing": "質問ではない",
  "it starts a conversation": "新しい話を始めている",
  "nobody has answered its author yet": "まだ誰も答えていない",
  "others are in this conversation already": "もう相手がいる",
  "it starts no conversation": "話の続き",
  "nobody is addressed": "誰にもあてていない",
  "it speaks to somebody": "特定の人にあてている",
  "it answers somebody": "誰かへの返事",
  "its author is new here": "はじめて話す人",
  "its author has said little so far": "まだあまり話していない人",
  "its author is one whom others answer": "よく返事をもらう人",
  "its author is in the talk already": "すでに話している人",
  "its words draw others in": "人が加わりやすい言葉",
  "its words draw nobody in": "人が加わりにくい言葉",
  "it says much": "詳しく書いている",
  "it says little": "短い",
  "it is brief": "短い",
  "its author says it again": "同じ人が繰り返している",
  "it takes up what others said": "ほかの人の話を受けている",
  "it greets": "あいさつ",
  "it thanks or says goodbye": "お礼や別れのあいさつ",
  "it is laughter or assent": "笑いや相づち",
  "it is in jest": "冗談まじり",
  "what it goes on with is still open": "もとの話がまだ片づいていない",
  "what it goes on with is in good hands": "もとの話には相手がいる",
  "others are there who could join": "加われる人がいる",
  "the room is busy with other things": "ほかの話で忙しい",
};

/** What spoke for joining or against it, in the language of the page. */
export const because = (words) => (language() === "ja" ? (BECAUSE[words] ?? words) : words);

/** What was learnt, in the language of the page. */
function likelihood(text) {
  const [, p, bar, told] = LIKELIHOOD.exec(text) ?? [];
  if (!p || language() !== "ja") return text;
  const limit = /threshold ([^,]+)/.exec(bar ?? "")?.[1];
  const mood = /less welcome/.test(bar ?? "") ? "、最近あまり歓迎されていないので高め" : /was welcome/.test(bar ?? "") ? "、最近歓迎されているので低め" : "";
  const reasons = (told ?? "").split(", ").filter(Boolean).map(because);
  const compared = limit ? `（基準 ${limit.replace("less than ", "<")}${mood}）` : "";
  return ` ここで誰かが加わる見込みは${p.replace("less than ", "<")}${compared}${reasons.length ? `：${reasons.join("、")}` : ""}。`;
}

/** Where the engine's sentence names another message. */
const NAMED = /(cancelled by |somebody answered \(|talk around |addressed in )([^\s),]+)|^([^\s]+)(?= gave a better reason)/;

/** The reason in words: without the outcome in front and the points behind, which are shown beside it. */
export function reason(trace, room) {
  const [, cause = trace.reason ?? ""] = /^(?:Ignored|Stayed silent|Reacted|Said a word|Answered): ([\s\S]+)$/.exec(trace.reason ?? "") ?? [];
  const learnt = LIKELIHOOD.exec(cause)?.[0] ?? "";
  const bare = cause.slice(0, cause.length - learnt.length).replace(/ Score \d+(?: \(.*\))?\.?$/, "").trim();
  const told = bare.replace(NAMED, (whole, before, id, first) => `${before ?? ""}${quoted(id ?? first, room)}`);
  if (language() === "ja") return inJapanese(told, trace) + likelihood(learnt);
  return (trace.author && told.startsWith(trace.author) ? told : told.charAt(0).toUpperCase() + told.slice(1)) + learnt;
}

function inJapanese(told, trace) {
  for (const [pattern, text] of JAPANESE) {
    if (pattern.test(told)) return told.replace(pattern, text);
  }
  return trace.gate ? `${t("gate")}：${gate(trace.gate)}` : told;
}

function quoted(id, room) {
  const message = room.messages.get(id);
  if (!message || message.deleted) return t("missing");
  const words = excerpt(message.text, 24);
  return language() === "ja" ? `${message.author}さんの「${words}」` : `${message.author}’s “${words}”`;
}
