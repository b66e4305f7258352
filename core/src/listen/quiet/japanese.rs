//! Japanese: how a request begins and what may follow it, from `japanese.txt`, with what may be around it.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::japanese_ability::{CAN_BE_QUIET, asks_whether_it_can};
use super::japanese_time::{is_point_in_time, time_at_start};
use super::somebody::is_name_in_japanese;
use super::{ClausePart, LAUGHS, QuietTime, SaidTo, TextClause, clauses, together};

/// How a request begins, and what may follow that.
struct Stem {
    text: &'static str,
    form: StemForm,
    only_to_it: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StemForm {
    Te,
    Nai,
    Na,
    Alone,
}

/// The longest first.
static STEMS: LazyLock<Vec<Stem>> = LazyLock::new(|| {
    let mut form = StemForm::Alone;
    let mut stems = Vec::new();
    for line in include_str!("japanese.txt").lines().filter(|line| !line.starts_with('#')) {
        match line.trim() {
            "[te]" => form = StemForm::Te,
            "[nai]" => form = StemForm::Nai,
            "[na]" => form = StemForm::Na,
            "[alone]" => form = StemForm::Alone,
            words => stems.extend(words.split_whitespace().map(|word| Stem {
                text: word.trim_start_matches('~'),
                form,
                only_to_it: word.starts_with('~'),
            })),
        }
    }
    stems.sort_by_key(|stem| std::cmp::Reverse(stem.text.len()));
    stems
});

/// Finds whether any of them, or a complaint, is in a text.
static ANY_STEM: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(STEMS.iter().map(|stem| stem.text).chain(REBUKES.split_whitespace()).chain(CAN_BE_QUIET))
        .expect("a list of words fits into an automaton")
});

/// A clause with more characters is not an order.
const CLAUSE_CHARS_MAX: usize = 60;

const ENDS: &str = ".!?,;\n…—–()*。、･・ ~〜～♪";

pub(super) fn asked_to_be_quiet(text: &str, said_to: SaidTo) -> Option<QuietTime> {
    if !ANY_STEM.is_match(text) {
        return None;
    }
    let parts: Vec<ClausePart> = clauses(text, ENDS).into_iter().flat_map(|clause| parts(clause, said_to)).collect();
    together(&parts, said_to)
}

fn parts(clause: TextClause<'_>, said_to: SaidTo) -> Vec<ClausePart> {
    let text = clause.text.trim_end_matches(|c: char| "ーw草笑っ".contains(c) && clause.text.chars().count() > 2);
    let text = if text.is_empty() || STEMS.iter().any(|stem| stem.text == clause.text) { clause.text } else { text };
    if text.chars().count() > CLAUSE_CHARS_MAX {
        return vec![ClausePart::Veto];
    }
    let laughs = clause.text.ends_with(['w', '草', '笑']) || clause.text.contains(|c| LAUGHS.contains(c));
    // Among words of another language it is only mentioned: "how do I say 静かにして in English".
    let is_foreign =
        text.contains(|c: char| c.is_ascii_alphabetic()) && text.is_ascii() && !is_listed(text, FOREIGN_BESIDE);
    if laughs && !said_to.is_bot() || text.contains('"') || is_foreign && whole(text, false).is_none() {
        return vec![ClausePart::Veto];
    }
    if let Some(part) = whole(text, clause.asks) {
        return vec![part];
    }
    if said_to.is_bot() && !clause.asks && is_rebuke(text) {
        return vec![ClausePart::Request { only_to_it: true, plain: true, time: QuietTime::Usual }];
    }
    // 「黙ってて30分」
    for (at, _) in text.char_indices().skip(1) {
        if let Some((_, time)) = time_at_start(&text[at..]).filter(|(end, _)| at + end == text.len())
            && let Some(ClausePart::Request { only_to_it, plain, .. }) = whole(&text[..at], clause.asks)
        {
            return vec![ClausePart::Request { only_to_it, plain, time }];
        }
    }
    // 「会議中なので静かにして」: the reason, and what it leads to.
    for (at, particle) in REASON_ENDS.split_whitespace().flat_map(|particle| text.match_indices(particle)) {
        let (reason, request) = (&text[..at], &text[at + particle.len()..]);
        if particle == "が" && is_subject(reason, request) && !clause.asks {
            continue;
        }
        if let Some(found @ ClausePart::Request { .. }) = whole(request, clause.asks) {
            return vec![whole(reason, false).unwrap_or_else(|| beside_or_reason(reason, false)), found];
        }
    }
    vec![beside_or_reason(text, clause.asks)]
}

/// 「子供が静かにしてくれない」: after a noun, が marks the subject; after a sentence it joins it to the next.
fn is_subject(before: &str, after: &str) -> bool {
    const PLAIN_ENDS: [&str; 4] = ["い", "る", "た", "う"];
    const POLITE_ENDS: [&str; 5] = ["です", "ます", "だ", "せん", "でしょう"];
    let complains = ["くれない", "くれません", "もらえない", "もらえません"].iter().any(|end| after.ends_with(end));
    let ends_with = |ends: &[&str]| ends.iter().any(|end| before.ends_with(end));
    !ends_with(&POLITE_ENDS) && (complains || !ends_with(&PLAIN_ENDS))
}

/// Words of other languages that go with a request.
const FOREIGN_BESIDE: &str = "please pls plz ok okay hey hi yo bot ai lol shut up stop quiet be silent thanks sorry no";

fn is_listed(text: &str, list: &str) -> bool {
    list.split_whitespace().any(|listed| listed == text)
}

/// Whether the text says that the bot talks too much, and nothing else.
fn is_rebuke(text: &str) -> bool {
    let rebukes = |text: &str| {
        let mut rests = REBUKES.split_whitespace().filter_map(|words| text.strip_prefix(words));
        rests.any(|rest| consume(rest, AFTER_REBUKE).is_some())
    };
    let mut text = text;
    // 「余計な」 is a filler before some words, and the beginning of 「余計なお世話」.
    while !rebukes(text) {
        let Some(filler) = longest(text, BEFORE).filter(|filler| filler.len() < text.len()) else { return false };
        text = &text[filler.len()..];
    }
    true
}

/// What people say to somebody who talks too much.
const REBUKES: &str = "うるさい うるさすぎ うるさ うるせえ うるせぇ うるせー うるせ うっさい うっせえ うっせぇ うっせー うっせ やかましい うざい ウザい うざ しつこい 口うるさい 鬱陶しい うっとうしい \
    邪魔 じゃま 迷惑 余計なお世話 大きなお世話 しゃべりすぎ 喋りすぎ 話しすぎ 発言しすぎ 返信しすぎ 反応しすぎ 出しゃばりすぎ でしゃばりすぎ 出しゃばり でしゃばり \
    聞いてない 聞いていない 誰も聞いてない 誰も聞いていない 頼んでない 頼んでいない 誰も頼んでない 呼んでない 呼んでいない 誰も呼んでない お呼びでない いい加減にして いい加減にしろ 空気読んで 空気読め 空気を読んで";

const AFTER_REBUKE: &str = "よ ね な なあ なぁ なー わ ぞ です だ だよ んだけど んですけど んだよ んだよな んですが かも かもしれない から って ってば ー っ ッ さ る な。 もう です。 すぎ すぎる すぎます のよ ん し";

const REASON_ENDS: &str = "んだから だから なので から ので ため んで けど が し から、 ますから";

/// A request, a time, or what goes beside them.
fn whole(text: &str, asks: bool) -> Option<ClausePart> {
    let mut rest = text;
    let mut time = None;
    let mut stripped = true;
    while stripped && !rest.is_empty() {
        if let Some(part) = request(rest, asks, time) {
            return Some(part);
        }
        stripped = false;
        if let Some((end, found)) = time_at_start(rest) {
            time = time.filter(|known| *known != QuietTime::Usual).or(Some(found));
            rest = &rest[end..];
            stripped = true;
        } else if let Some(filler) = longest(rest, BEFORE) {
            rest = &rest[filler.len()..];
            stripped = true;
        }
    }
    match (rest.is_empty(), time) {
        (true, Some(time)) if !asks => Some(ClausePart::Time(time)),
        (true, _) if !asks => Some(ClausePart::Beside),
        _ => None,
    }
}

fn longest<'a>(text: &str, list: &'a str) -> Option<&'a str> {
    list.split_whitespace().filter(|words| text.starts_with(words)).max_by_key(|words| words.len())
}

fn request(text: &str, asks: bool, time: Option<QuietTime>) -> Option<ClausePart> {
    for stem in STEMS.iter() {
        let Some(rest) = text.strip_prefix(stem.text) else { continue };
        let follows = match stem.form {
            StemForm::Te => rest.strip_prefix(['て', 'で']).and_then(|rest| consume(rest, AFTER_TE)),
            StemForm::Nai => after_nai(rest),
            StemForm::Na => {
                rest.strip_prefix('な').and_then(|rest| consume(rest, "よ って ってば ー っ")).map(|_| false)
            }
            StemForm::Alone => consume(rest, AFTER_ALONE).map(|_| false),
        };
        let Some(politely) = follows else { continue };
        // 「静かに？」 asks whether, 「静かにしてくれる？」 asks for it.
        if asks && !politely {
            continue;
        }
        let plain = PLAIN.split_whitespace().any(|words| stem.text.starts_with(words)) && !stem.text.contains("禁止");
        let time = time.unwrap_or(QuietTime::Usual);
        return Some(ClausePart::Request { only_to_it: stem.only_to_it, plain, time });
    }
    asks_whether_it_can(text, asks).then(|| ClausePart::Request {
        only_to_it: true,
        plain: true,
        time: time.unwrap_or(QuietTime::Usual),
    })
}

/// How orders begin that are no answer to a question: 「静かに」, not 「送らないで」.
const PLAIN: &str = "静か しずか お静か ご静粛 静粛 黙 だま お黙 シャラップ 大人しく おとなしく 口 お口 喋 しゃべ おしゃべり お喋り 話 \
    割 遮 邪魔 じゃま 出しゃばら でしゃばら 引っ込 発言を 発言は 発言や 発言しな 騒 うるさく シーッ しーっ シー しー";

fn after_nai(rest: &str) -> Option<bool> {
    if let Some(rest) =
        rest.strip_prefix("ないで").or_else(|| rest.strip_prefix("んといて")).or_else(|| rest.strip_prefix("んで"))
    {
        return consume(rest, AFTER_TE);
    }
    if let Some(rest) = rest
        .strip_prefix("ないことにして")
        .or_else(|| rest.strip_prefix("ないよう"))
        .filter(|rest| !rest.starts_with('に'))
    {
        return consume(rest, "お願い お願いします お願いいたします 頼む ください 下さい ね よ");
    }
    if let Some(rest) = rest.strip_prefix("ないように").or_else(|| rest.strip_prefix("ない方向で")) {
        return consume(
            rest,
            "して し て お願い お願いします お願いね 頼む ください 下さい ね よ な くれ くれる もらえる もらえます か",
        );
    }
    if let Some(rest) = rest.strip_prefix("なくて").or_else(|| rest.strip_prefix("なくても")) {
        return consume(rest, "いい いいです 大丈夫 大丈夫です 結構 結構です ok です よ から ね ので 良い よろしい")
            .filter(|_| !rest.is_empty());
    }
    if let Some(rest) = rest.strip_prefix("ずに") {
        return consume(rest, "いて い て お願い お願いします くれ ください 下さい もらえる もらえます ね か")
            .filter(|_| !rest.is_empty());
    }
    let firm = rest.strip_prefix("ないこと").or_else(|| rest.strip_prefix("ない"));
    firm.filter(|rest| rest.is_empty() || *rest == "よ" || *rest == "で")
        .filter(|_| rest.ends_with("こと"))
        .map(|_| false)
}

/// Whether all of a text consists of these pieces, and whether one of them is polite.
pub(super) fn consume(text: &str, pieces: &str) -> Option<bool> {
    let mut reached = vec![None; text.len() + 1];
    reached[0] = Some(false);
    for at in 0..text.len() {
        let Some(politely) = reached[at] else { continue };
        for piece in pieces.split_whitespace().filter(|piece| text[at..].starts_with(piece)) {
            let known = reached[at + piece.len()].unwrap_or(false);
            reached[at + piece.len()] = Some(known || politely || asks_politely(piece));
        }
    }
    reached[text.len()]
}

fn asks_politely(piece: &str) -> bool {
    "くれ もら いただ 頂 ください 下さい いい ほしい 欲しい ちょうだい お願い"
        .split(' ')
        .any(|words| piece.starts_with(words))
}

fn beside_or_reason(text: &str, asks: bool) -> ClausePart {
    let whole_text = text.trim_end_matches(|c: char| "よねなぁあーさ".contains(c));
    if !asks && is_listed(whole_text, COMPLAINTS) {
        return ClausePart::Complaint;
    }
    let mut text = text;
    while let Some(filler) = longest(text, BEFORE).filter(|filler| filler.len() < text.len()) {
        text = &text[filler.len()..];
    }
    let bare = text.trim_end_matches(|c: char| "よねなぁあーさ".contains(c));
    let known =
        |words: &str| words == text || words == bare || text.strip_prefix("もう").is_some_and(|text| text == words);
    if !asks && COMPLAINTS.split_whitespace().any(known) {
        return ClausePart::Complaint;
    }
    if !asks && whole(bare, false) == Some(ClausePart::Beside) {
        return ClausePart::Beside;
    }
    if is_name_in_japanese(whole_text) && !OUR_TALK.split_whitespace().any(|words| text.contains(words)) {
        return ClausePart::Veto;
    }
    match asks || VETOES.split_whitespace().any(|words| text.contains(words)) {
        true => ClausePart::Veto,
        false if OUR_TALK.split_whitespace().any(|words| text.contains(words)) => ClausePart::Complaint,
        false => ClausePart::Reason,
    }
}

pub(super) fn allowed_to_talk(text: &str) -> bool {
    let clause_allows = |clause: &TextClause<'_>| {
        let after_reason = || {
            REASON_ENDS
                .split_whitespace()
                .flat_map(|particle| clause.text.match_indices(particle))
                // 「明日から話していいよ」: not yet.
                .filter(|(at, particle)| *particle != "から" || !is_point_in_time(&clause.text[..*at]))
                .any(|(at, particle)| allows(&clause.text[at + particle.len()..]))
        };
        !clause.asks && (allows(clause.text) || after_reason())
    };
    let all = clauses(text, ENDS);
    !text.contains('"') && !all.iter().any(names_somebody) && all.iter().any(clause_allows)
}

/// 「ボブ」, "bob": the addressee of the rest.
fn names_somebody(clause: &TextClause<'_>) -> bool {
    let is_foreign_name =
        clause.text.chars().all(|c| c.is_ascii_alphabetic()) && !is_listed(clause.text, FOREIGN_BESIDE);
    is_foreign_name || is_name_in_japanese(clause.text) && whole(clause.text, false).is_none() && !allows(clause.text)
}

/// The same, said to nobody in particular: nothing else is said, and it is clear that somebody was quiet.
pub(super) fn plainly_allowed_to_talk(text: &str) -> bool {
    const BEFORE_NOW: [&str; 4] = ["もう", "また", "ミュート", "なくて"];
    let is_plain = |clause: &TextClause<'_>| {
        let invites = clause.text.contains("そう") || clause.text.contains("かな");
        !clause.asks && !invites && BEFORE_NOW.iter().any(|word| clause.text.contains(word)) && allows(clause.text)
    };
    let is_beside = |clause: &TextClause<'_>| whole(clause.text, clause.asks) == Some(ClausePart::Beside);
    let all = clauses(text, ENDS);
    !text.contains('"') && all.iter().any(is_plain) && all.iter().all(|clause| is_plain(clause) || is_beside(clause))
}

/// Whether only a permission follows what may be before it.
fn allows(text: &str) -> bool {
    let mut rest = text;
    loop {
        if begins_permission(rest) {
            return true;
        }
        let Some(filler) = longest(rest, BEFORE) else { return false };
        rest = &rest[filler.len()..];
    }
}

fn begins_permission(text: &str) -> bool {
    const VERBS: &str = "話し 喋っ しゃべっ 発言し 返信し 返事し 投稿し コメントし 書き込ん 戻っ 戻ってき 参加し 会話に入っ 入っ 声を出し 話に入っ 再開し 自由に話し 自由に喋っ 普通に話し 普通に喋っ 口を開い 反応し 答え";
    const ALLOWED: &str = "いい 良い よい 大丈夫 ok オッケー おk 構わない かまわない 構いません かまいません よし よろしい です ます よ ね ぞ から わ な の んだ だ ので もう";
    const NOT_QUIET: &str = "黙ら だまら 静かにし しずかにし 遠慮し 我慢し 黙ってい 黙って 静かにしてい 静かにして";
    const ALONE: &str = "ミュート解除 ミュートを解除 ミュートは解除 ミュートは終わり ミュート終わり ミュート終了 解除 戻ってきて 戻っておいで 復帰して 復活して 再開して 起きて また話して また喋って 話して 喋って しゃべって 出てきて 帰ってきて おかえり 発言を許可 発言許可 発言解禁 もう静かにしないで 黙るのやめて 黙るのをやめて 静かにするのはもういい";
    let after = |text: &str, pieces: &str| consume(text, pieces).is_some();
    let permitted = VERBS.split_whitespace().filter_map(|verb| text.strip_prefix(verb)).any(|rest| {
        let rest = rest.strip_prefix(['て', 'で']).map(|rest| rest.strip_prefix('も').unwrap_or(rest));
        rest.is_some_and(|rest| !rest.is_empty() && after(rest, ALLOWED))
    });
    let not_needed = NOT_QUIET.split_whitespace().filter_map(|verb| text.strip_prefix(verb)).any(|rest| {
        let rest = rest.strip_prefix("なくて").map(|rest| rest.strip_prefix('も').unwrap_or(rest));
        rest.is_some_and(|rest| !rest.is_empty() && after(rest, ALLOWED))
    });
    let alone = ALONE.split_whitespace().filter_map(|words| text.strip_prefix(words)).any(|rest| {
        after(rest, "して し て で です ます する くれ くれる ください 下さい お願い お願いします いい よ ね から な もう 大丈夫 だ")
    });
    permitted || not_needed || alone
}

/// What may be before a request.
const BEFORE: &str = "できたら 出来たら 可能でしたら 可能であれば よろしければ 今から いまから 今 いま これ以上 余計なことを 余計なこと 余計な もうこれ以上 こっちの話に 私の話に 俺たちの話に 僕たちの話に みんなの会話に 人の会話に 会話の途中で 話の途中で 途中で ここから先は 今後は 次から ねえねえ お願いですから もうちょっと もうちょい しばらく 毎回 全部 全てに 何にでも いつも 変に 無理に 急に 横から 話を 会話を 私たちだけで 君はもう 君はちょっと お前もう ちゃんと きちんと 本当に少し そこで ちょっとの間 少しの間 ちょっとだけ 少しだけ すこしだけ すこし ちょい ちょいと ちと しばし 暫く 一回 一度 ひとまず 今すぐ 今日のところは そろそろ とにかく 君もさ 本当 ちょっと もう少し もう お願いだから お願い お願いします すみませんが すみません すいませんが すいません ごめんね ごめん ごめんなさい \
    悪いけど 悪いんだけど 悪いんですが 悪いが 頼むから 頼む いいから とりあえず 少し 少々 申し訳ないけど 申し訳ないですが 申し訳ないんですが 申し訳ありませんが 恐れ入りますが すまん すまないが おい ねえ ねぇ ねー \
    あの あのー あのさ じゃあ じゃ さすがに ほんとに ほんと 本当に マジで まじで いい加減に いい加減 君には きみには お前には おまえには あなたには あんたには ボットには 君は きみは 君 お前は おまえは お前 あなたは あなた ボットは bot ボット \
    このチャンネルでは このチャンネルで このチャンネルには ここでは ここで ここには ここに このスレでは このスレで このスレには このスレに このスレッドでは このスレッドで このスレッドには \
    このスレッドに これには この話には この話に この会話には この会話に 会話に 話に 人の話に 勝手に いちいち あまり あんまり なるべく できれば 可能なら 良ければ よければ よかったら でいいから \
    だから まず はい うん えっと えーと あー あ いや いやいや もっと 絶対に 絶対 さっさと 早く はやく 黙って 頼みます 全部に 全てに 何でも みんなの話に 私たちの会話に 私たちの話に \
    しばらくは は 、 は、 自分 も では 今だけ 今回は 今回だけ さん くん ちゃん そこの ありがとう ありがと どうか どうぞ 了解 わかった 分かった お疲れ おつかれ 一言も 何も なにも 口を";

/// What may follow て.
const AFTER_TE: &str = "て いて おいて おけ ろ いろ くれ くれる くれない くれません くれます くれや くれよ ください 下さい くださいませんか くださいます もらえる もらえない もらえます もらえません \
    もらっていい もらってもいい もらっても良い もらいたい もらえないかな いただけます いただけません いただけない いただける いただきたい 頂けます 頂けません 頂きたい 頂ける ほしい 欲しい ちょうだい 頂戴 か かな ね ねー よ な なー \
    や です のですが んですが んだけど んですけど けど の お願い お願いします 頼む 頼みます いいよ いいですよ いいからね くれないと 困る 困ります くれると もらえると いただけると 頂けると くれたら もらえたら いただけたら くださると でしょうか ますでしょうか 助かる 助かるんだけど 助かるな 助かります 嬉しい 嬉しいです うれしい うれしいです ありがたい ありがたいです \
    幸いです ください。 さい ってば よね くれんか くれへん や もらおう もらおうか なさい ー ッ っ ほしいな 欲しいな ほしいんだけど くれないか くれないかな くれませんか もらえませんか もらえますか";

const AFTER_ALONE: &str = "よ ね な です ください 下さい お願い お願いします お願いね 頼む 頼みます って ってば ー っ ッ だ だよ で お願いいたします ぞ や か してください";

/// Clauses that go with a request.
const COMPLAINTS: &str = "うるさい うるさいです うるせ うるせえ うるせぇ うるさすぎ うるさすぎる しつこい 邪魔 邪魔です 邪魔だ もういい もういいです もう十分 もう十分です 十分 十分です いい加減にして \
    いい加減にしろ わかった わかったから 分かった 分かったから 誰も聞いてない 聞いてない 聞いてないから 誰も呼んでない 呼んでない ありがとう ありがと ありがとうございます 今話してる 今話している 話してる 話し中 話し中です \
    今話し中 話してるんだ 今大事な話をしてる 大事な話をしてる 大事な話 大事な話してる 人間だけで話したい 人間同士で話してる 人と話してる 会話中 会話中です 取り込み中 取り込み中です しゃべりすぎ 喋りすぎ 話しすぎ \
    発言しすぎ 出しゃばりすぎ でしゃばりすぎ 多すぎ 多い しゃべりすぎだ 喋りすぎだ 話しすぎだ 喋りすぎです 話しすぎです 悪い 悪いね ごめん ごめんね すまん すみません お願い お願いします 頼む 頼みます 今はいい 今はいらない \
    空気読んで 空気を読んで 余計なお世話 口うるさい 鬱陶しい うっとうしい うざい ウザい 迷惑 迷惑です 迷惑だ まったく もう 通知がうるさい 大丈夫 もう大丈夫 大丈夫です 会話の邪魔 話の邪魔 会話の邪魔です 集中したい 集中できない 静か 困る 困ります 気が散る 気が散ります 今忙しい 忙しい 会議中 会議中です 今会議中 助かる 助かります";

/// What people do when they are disturbed.
const OUR_TALK: &str = "話し合 話して 話す 話した 会議 相談 打ち合わせ 打合せ 仕事 作業 集中 考え事 考えて 議論 人間 会話 忙し 取り込 ミーティング 電話 勉強 授業中だか";

/// Words of people who talk about such words.
const VETOES: &str = "って言 と言 という って何 って英 英語 意味 訳し 翻訳 歌詞 曲 方法 とき 時は 場合 なら たら れば のに 言われ 怒られ ように言 そう";
