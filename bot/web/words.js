// Every text of the page in English and Japanese, and which of the two is spoken.

const TEXTS = {
  en: {
    tagline: "speaks only where a thoughtful member would",
    rooms: "Rooms", open_room: "Open a room", room_name: "Name of the room", open: "Open", cancel: "Cancel", close_room: "Close this room", close_room_ask: "Close #{room} for everybody?", close_room_note: "All that was said in it is deleted. This cannot be undone.", room_closed: "#{room} was closed.", talk: "Talk", reasoning: "Reasoning",
    menu: "Rooms and settings", sample: "Play a sample conversation", sample_note: "See the whole cycle in half a minute", japanese: "日本語", english: "English",
    you_are: "You are", rename: "Change your name", who: "What should people call you?", who_note: "Open a second tab to be a second person.", name: "Your name", enter: "Come in",
    theme: "Light or dark", language_switch: "日本語にする", shortcuts: "Keyboard shortcuts",
    message_to: "Message #{room}", message_hint: "Message #{room} — @{bot} asks it something", reply_thread: "Reply in this thread", send: "Send", enter_hint: "Enter sends · Shift+Enter breaks the line · / for commands",
    replying_to: "Replying to {name}", stop_reply: "Do not reply", empty_title: "Nobody has said anything here yet",
    empty_text: "Mention @{bot} to ask it something, or talk among yourselves in two tabs and watch on the right why it stays out. A sample conversation shows all of it by itself.",
    older: "Show older messages", edited: "edited", deleted: "deleted", sending: "sending…", not_sent: "not sent: {why}", dismiss: "Dismiss", try_again: "Try again", only_you: "Only you see this",
    reply: "Reply", thread: "Thread", react: "React", edit: "Edit", delete: "Delete", delete_ask: "Delete this message for everybody?", save: "Save",
    replies: "{n} replies", replies_1: "1 reply", close_thread: "Close the thread", start_thread: "New thread", missing: "a message that is not loaded", deleted_message: "a deleted message",
    typing: "{names} is typing…", typing_more: "{names} are typing…", and: " and ", new_message: "{name} says: {text}", newest: "Newest messages", bot_badge: "bot",
    lost: "The connection is gone. Trying again in {time} — what you write is kept.", lost_now: "The connection is gone. Trying again — what you write is kept.", not_let_in: "{why} Trying again in {time}.", try_now: "Try now", connecting: "Connecting…", refused: "The room said no: {why}", too_long: "Too long by {n} characters: a message has at most {most}.", too_large: "too large for the room",
    offline_title: "offline: no model is connected", offline: "set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY and start again", offline_more: "Until then a few rules judge, and answers are templates.",
    model: "Answers", judge: "Judges", preset: "Preset", spent: "Spent today", calls: "{n} calls", calls_1: "1 call", tokens: "{n} tokens",
    muted_until: "Muted until {time}", muted_open: "Muted until somebody lifts it", unmute_hint: "/unmute lifts it", deaf: "It does not listen in this room",
    floor: "Who holds the floor", floor_thread: "Who holds the floor in the thread", floor_none: "Nobody has spoken lately.", share: "{name}: {n} of {all} messages, {percent} %",
    now: "Now", listening: "Listening. Nothing is pending.", listening_more: "A message that may be worth an answer appears here with its countdown.",
    waiting: "Waits for quiet", judging: "Asks the judge", holding: "Holds its answer back", writing: "Writes", posting: "Posts", left: "{time} left", any_moment: "any moment", since: "for {time}",
    decisions: "Decisions", decisions_none: "Every message gets one, silence too.", story: "The story of this message", back: "All decisions", unknown: "No decision is known about this message.",
    own_message: "Its own words: it does not judge itself.", pending: "Not decided yet.",
    score: "Score", no_score: "no score", score_of: "Score {score} of 100", addressed: "Addressed", odds: "What changed the likelihood", counted: "How the points add up", nothing_counted: "No rule gave points.", clamped: "The sum stays within 0 and 100.",
    path: "How far it came", gate: "Gate closed", judged: "The judge", asked_join: "Should it join?", asked_judge: "Should it speak?", asked_state: "State of the talk?", asked_same: "Still the same talk?", asked_changed: "Has anything changed?",
    says_yes: "yes", says_no: "no", failed: "no usable answer", confidence: "Sure to {n} %", delay: "wait {time}", cached: "remembered answer", chars: "{n} characters read", raw: "Its exact words",
    cost: "Cost", after: "{time} after the message", acted: "Acted",
    outcome_ignored: "Ignored", outcome_silent: "Stayed silent", outcome_reacts: "Reacted", outcome_acknowledges: "Said a word", outcome_replies: "Answered", outcome_pending: "Waiting",
    stage_heard: "heard", stage_score: "score", stage_gate: "gates", stage_judge: "judge", stage_hold: "wait", stage_post: "spoke", stage_address: "addressed", see_why: "{outcome}. See why.",
    seconds: "{n} s", minutes: "{n} min", hours: "{h} h {m} min",
    key_send: "send", key_break: "new line", key_messages: "from the empty field to the messages; between messages", key_story: "the story of the message", key_reply: "reply, thread, react", key_change: "edit, delete your own", key_field: "to the text field", key_escape: "close, cancel, back to the text field", key_help: "this list",
    memory: "What it remembers", back_to_room: "Back to the room", memory_note: "What is remembered of #{room}. Everybody who may come in sees it, and may change it.",
    memory_channel: "The channel", memory_people: "People", memory_facts: "Facts", memory_none: "Nothing yet. It takes notes after some talk.", memory_no_people: "Nobody is known yet.", memory_no_facts: "No facts yet. It thinks a conversation over when it has come to rest.",
    memory_topics: "Topics", memory_mood: "Mood", memory_active: "Taking part", memory_messages: "{n} messages", memory_last_seen: "last seen {time}", memory_strength: "Strength {n} %", memory_uses: "used {n} times", memory_from: "from {names}, {time}", memory_pinned: "pinned",
    memory_edit: "Edit", memory_pin: "Pin", memory_unpin: "Unpin", memory_forget: "Forget", memory_forget_ask: "Forget this for good?", memory_failed: "That did not work: {why}", familiarity_stranger: "stranger", familiarity_acquaintance: "acquaintance", familiarity_regular: "regular", familiarity_close: "close",
    skip: "Skip to the text field", rule_mention: "it was mentioned", rule_name: "its name was called", rule_reply: "it was replied to",
  },
  ja: {
    tagline: "話すべきときだけ、話す",
    rooms: "ルーム", open_room: "ルームを開く", room_name: "ルームの名前", open: "開く", cancel: "やめる", close_room: "このルームを閉じる", close_room_ask: "#{room} を全員に対して閉じますか？", close_room_note: "このルームの発言はすべて削除されます。元には戻せません。", room_closed: "#{room} は閉じられました。", talk: "会話", reasoning: "判断",
    menu: "ルームと設定", sample: "サンプル会話を再生", sample_note: "30秒でひととおりの動きが見られます", japanese: "日本語", english: "English",
    you_are: "あなたは", rename: "名前を変える", who: "なんとお呼びしましょう？", who_note: "タブをもう一つ開くと、もう一人になれます。", name: "お名前", enter: "入る",
    theme: "明るい／暗い", language_switch: "Switch to English", shortcuts: "キーボード操作",
    message_to: "#{room} へのメッセージ", message_hint: "#{room} へのメッセージ（@{bot} で質問）", reply_thread: "このスレッドに返信", send: "送信", enter_hint: "Enterで送信 · Shift+Enterで改行 · / でコマンド",
    replying_to: "{name}さんへの返信", stop_reply: "返信をやめる", empty_title: "まだ誰も話していません",
    empty_text: "@{bot} と書いて質問してみてください。タブを二つ開いて二人で話すと、なぜ口を挟まないのかが右に表示されます。サンプル会話なら、すべてを自動で見られます。",
    older: "以前のメッセージを表示", edited: "編集済み", deleted: "削除済み", sending: "送信中…", not_sent: "送信できません：{why}", dismiss: "閉じる", try_again: "もう一度", only_you: "あなただけに表示",
    reply: "返信", thread: "スレッド", react: "リアクション", edit: "編集", delete: "削除", delete_ask: "このメッセージを全員から削除しますか？", save: "保存",
    replies: "返信{n}件", replies_1: "返信1件", close_thread: "スレッドを閉じる", start_thread: "新しいスレッド", missing: "読み込まれていないメッセージ", deleted_message: "削除されたメッセージ",
    typing: "{names}さんが入力中…", typing_more: "{names}さんが入力中…", and: "さんと", new_message: "{name}さん：{text}", newest: "最新のメッセージへ", bot_badge: "ボット",
    lost: "接続が切れました。{time}後に再接続します。書いた内容は保存されています。", lost_now: "接続が切れました。再接続しています。書いた内容は保存されています。", not_let_in: "{why} {time}後にもう一度試します。", try_now: "今すぐ", connecting: "接続しています…", refused: "受け付けられませんでした：{why}", too_long: "{n}文字多すぎます。メッセージは{most}文字までです。", too_large: "大きすぎます",
    offline_title: "オフライン：モデルが接続されていません", offline: "ANTHROPIC_API_KEY・GEMINI_API_KEY・OPENAI_API_KEY のいずれかを設定して、もう一度起動してください", offline_more: "それまでは簡単なルールで判断し、定型文で答えます。",
    model: "回答", judge: "判定", preset: "プリセット", spent: "今日の費用", calls: "{n}回", calls_1: "1回", tokens: "{n}トークン",
    muted_until: "{time}までミュート中", muted_open: "解除されるまでミュート中", unmute_hint: "/unmute で解除", deaf: "このルームは聞いていません",
    floor: "発言の割合", floor_thread: "スレッドでの発言の割合", floor_none: "最近の発言はありません。", share: "{name}：{all}件中{n}件、{percent} %",
    now: "いま", listening: "聞いています。待機中のものはありません。", listening_more: "答える価値のありそうな発言は、残り時間とともにここに出ます。",
    waiting: "間を待っています", judging: "判定中", holding: "答えるのを待っています", writing: "書いています", posting: "投稿中", left: "あと{time}", any_moment: "まもなく", since: "{time}経過",
    decisions: "判断の記録", decisions_none: "黙っていたときも含め、すべての発言に記録が残ります。", story: "この発言の経緯", back: "すべての判断", unknown: "この発言の判断は記録されていません。",
    own_message: "自分の発言です。自分では判断しません。", pending: "まだ決まっていません。",
    score: "スコア", no_score: "スコアなし", score_of: "100点中{score}点", addressed: "呼びかけ", odds: "見込みを変えたもの", counted: "点数の内訳", nothing_counted: "加点・減点はありません。", clamped: "合計は0から100に収めます。",
    path: "どこまで進んだか", gate: "止めたゲート", judged: "判定役", asked_join: "加わるべき？", asked_judge: "話すべき？", asked_state: "会話の状態は？", asked_same: "同じ会話？", asked_changed: "状況は変わった？",
    says_yes: "はい", says_no: "いいえ", failed: "使える答えなし", confidence: "確信度 {n} %", delay: "{time}待つ", cached: "記憶していた答え", chars: "{n}文字を読んだ", raw: "元の言葉",
    cost: "費用", after: "発言の{time}後", acted: "行動",
    outcome_ignored: "対象外", outcome_silent: "黙っていた", outcome_reacts: "リアクション", outcome_acknowledges: "ひとこと", outcome_replies: "答えた", outcome_pending: "待機中",
    stage_heard: "聞いた", stage_score: "点数", stage_gate: "ゲート", stage_judge: "判定", stage_hold: "待つ", stage_post: "話した", stage_address: "呼びかけ", see_why: "{outcome}。理由を見る",
    seconds: "{n}秒", minutes: "{n}分", hours: "{h}時間{m}分",
    key_send: "送信", key_break: "改行", key_messages: "空の入力欄から発言へ、発言の間を移動", key_story: "その発言の経緯", key_reply: "返信・スレッド・リアクション", key_change: "自分の発言の編集・削除", key_field: "入力欄へ", key_escape: "閉じる・やめる・入力欄へ戻る", key_help: "この一覧",
    memory: "覚えていること", back_to_room: "ルームに戻る", memory_note: "#{room} について覚えていることです。入れる人はだれでも見て、直せます。",
    memory_channel: "チャンネル", memory_people: "人", memory_facts: "事実", memory_none: "まだありません。しばらく会話があると書き留めます。", memory_no_people: "まだだれも知りません。", memory_no_facts: "まだありません。会話が落ち着くと振り返ります。",
    memory_topics: "話題", memory_mood: "雰囲気", memory_active: "参加者", memory_messages: "発言 {n} 件", memory_last_seen: "最後に見たのは {time}", memory_strength: "強さ {n} %", memory_uses: "{n} 回使用", memory_from: "{names}、{time}", memory_pinned: "固定",
    memory_edit: "直す", memory_pin: "固定する", memory_unpin: "固定をやめる", memory_forget: "忘れる", memory_forget_ask: "これを完全に忘れますか？", memory_failed: "できませんでした：{why}", familiarity_stranger: "初めての人", familiarity_acquaintance: "顔見知り", familiarity_regular: "常連", familiarity_close: "親しい人",
    skip: "入力欄へ移動", rule_mention: "メンションされた", rule_name: "名前を呼ばれた", rule_reply: "返信された",
  },
};

/** Rules by id: a short name, and what they notice. */
const RULES = {
  mention: ["mentioned", "呼びかけ"], name: ["named", "名前"], reply: ["replied to", "返信"],
  engaged: ["engaged", "会話中"], question: ["question", "質問"], keyword: ["keyword", "キーワード"], calls_for_help: ["calls for help", "助けを求める"],
  two_people: ["two people", "二人の会話"], not_mentioned: ["not mentioned", "名前が出ない"], high_frequency: ["fast talk", "速い会話"], its_topic: ["its topic", "得意な話題"],
  after_silence: ["after silence", "沈黙のあと"], fading: ["fading", "先細り"], cooldown: ["cooldown", "話した直後"], filler: ["filler", "相づち"], closing: ["closing", "締めの言葉"],
};

const GATES = {
  mute: ["muted", "ミュート"], quiet_hours: ["quiet hours", "静かな時間"], unasked: ["only when addressed", "呼ばれたときだけ"], loop_guard: ["loop guard", "ボット同士の往復"],
  messages_min: ["too few messages", "発言が少ない"], on_its_way: ["a post is on its way", "投稿の途中"], interval: ["interval", "間隔"], talk: ["its share of the talk", "話す割合"], addressed_elsewhere: ["for somebody else", "ほかの人あて"],
  bot_answered: ["another bot answered", "ほかのボットが回答"], floor_share: ["floor share", "発言の割合"], spoke_last: ["spoke last", "最後に話したのは自分"], user_limit: ["limit per person", "一人あたりの上限"], budget: ["budget", "予算"],
};

const stored = () => { try { return localStorage.getItem("language"); } catch { return null; } };
let spoken = stored() ?? (navigator.language?.startsWith("ja") ? "ja" : "en");

export const language = () => spoken;

export function speak(wanted) {
  spoken = wanted === "ja" ? "ja" : "en";
  try { localStorage.setItem("language", spoken); } catch { /* it holds for this visit */ }
}

/** The text with its gaps filled. */
export function t(key, values = {}) {
  const text = TEXTS[spoken][key] ?? TEXTS.en[key] ?? key;
  return text.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);
}

/** The singular has a text of its own. */
export const count = (key, n) => t(n === 1 ? `${key}_1` : key, { n: n.toLocaleString(spoken) });

const named = (table, id) => table[id]?.[spoken === "ja" ? 1 : 0] ?? id.replaceAll("_", " ");
export const rule = (id) => named(RULES, id);
export const gate = (id) => named(GATES, id);

/** Fills everything in the page that names its text. */
export function fillIn(root = document) {
  document.documentElement.lang = spoken;
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of root.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.dataset.tLabel));
    element.title = t(element.dataset.tLabel);
  }
}
