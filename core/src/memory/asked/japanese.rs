//! Japanese requests to forget.

use super::clauses::Clause;

/// What a request may end with.
const JAPANESE_ENDS: &str = "\
    ください 下さい くださいね くださいませんか くれ くれる くれない くれます くれますか くれません くれませんか くれないかな くれよ くれると助かる \
    くれたら助かる くれたら助かります くれると嬉しい くれると嬉しいです くれたら嬉しい くれたら嬉しいです くださると助かります くださると嬉しいです \
    頂けると助かります くれると助かります ほしい 欲しい ほしいな ほしいです 欲しいです ほしいんだけど もらえる もらえます もらえますか もらえません もらえませんか もらえない \
    もらえないかな もらえると助かる もらえると助かります もらっていい もらっていいですか もらってもいい もらってもいいですか いただけますか いただけませんか 頂けますか \
    頂けませんか いただけると助かります ね よ いいよ ちょうだい ちょうだいね おいて おいてね おいてください おいてくれる おいてほしい お願い お願いします";
/// What is between the topic and the request.
const JAPANESE_LINKS: [&str; 5] = ["について", "に関して", "のこと", "の話", "の件"];
/// Who said it and when, after the link.
const JAPANESE_SAID: [&str; 7] =
    ["言ったこと", "話したこと", "書いたこと", "教えたこと", "言った話", "話した内容", "言った事"];
const JAPANESE_VERBS: [&str; 11] = [
    "忘れて",
    "忘れといて",
    "消して",
    "削除して",
    "覚えないで",
    "覚えておかないで",
    "記憶しないで",
    "記録しないで",
    "保存しないで",
    "なかったことにして",
    "無かったことにして",
];
/// Everything but what is named is meant.
const JAPANESE_EXCEPTIONS: [&str; 6] = ["以外", "のほか", "の他", "を除", "抜きで", "じゃない"];
/// Phrases that name nothing that could be looked for: "what I said just now", "me".
const JAPANESE_NO_TOPICS: &str = "\
    こ そ あ ど 今 いま さっき 先 先ほど 先程 昨日 今日 前 この前 以前 今まで さっきまで これまで 全部 すべて 全て 私 僕 俺 わたし 自分 あなた 君 今の さっきの 昨日の";

/// The topic of the request with which the clause at this index ends. It may be in the clause before: 「手術の話、忘れて」.
pub(super) fn japanese_topic(clauses: &[Clause<'_>], at: usize) -> Option<String> {
    let clause = clauses[at].text;
    let found = JAPANESE_VERBS.iter().filter_map(|verb| Some((clause.rfind(verb)?, *verb)));
    let (verb_at, verb) = found.max_by_key(|(at, verb)| at + verb.len())?;
    let negated = verb.ends_with("ないで");
    let end = clause[verb_at + verb.len()..].trim_matches([' ', '\u{3000}', '~', '〜', '♪', 'ー']);
    let next = clauses.get(at + 1).map_or("", |next| next.text);
    // 「仕事は忘れて、飲もう」 says what to do first.
    let is_bare = end.is_empty() && (!clauses[at].goes_on() || next.starts_with("お願い") || next.starts_with("頼"));
    // 「覚えないでいいよ」 allows it.
    let is_end = JAPANESE_ENDS.split_whitespace().any(|known| known == end) && !(negated && end == "いいよ");
    if !is_bare && !is_end {
        return None;
    }
    let before = clause[..verb_at].trim_end();
    let before = match at.checked_sub(1).map(|before| &clauses[before]) {
        Some(earlier) if before.is_empty() && earlier.goes_on() => earlier.text,
        _ => before,
    };
    let topic = topic_before(before, verb, negated)?;
    if JAPANESE_EXCEPTIONS.iter().any(|except| topic.contains(except)) {
        return None;
    }
    let names_nothing = JAPANESE_NO_TOPICS.split_whitespace().any(|known| known == topic);
    (!names_nothing).then_some(topic)
}

/// What is to be forgotten, from the words before the verb.
fn topic_before(before: &str, verb: &str, negated: bool) -> Option<String> {
    let bare = before.strip_suffix(['は', 'を', 'も']).map(str::trim_end);
    let object = bare.unwrap_or(before);
    let (said, rest) = JAPANESE_SAID
        .iter()
        .find_map(|said| object.strip_suffix(said).map(|rest| (true, rest)))
        .unwrap_or((false, object));
    // "Delete" may refer to anything, not only to what was said.
    if !said && matches!(verb, "消して" | "削除して") {
        return None;
    }
    let link = JAPANESE_LINKS.iter().filter_map(|link| Some((rest.rfind(link)?, link.len()))).max();
    let Some((at, len)) = link else {
        // 「住所は覚えないで」: what is not to be remembered is named alone.
        return bare.filter(|_| negated && !said).map(str::to_owned);
    };
    let between = &rest[at + len..];
    let is_small = between.is_empty()
        || ["私が", "僕が", "俺が", "さっき", "昨日", "前に", "先ほど", "今日"]
            .iter()
            .any(|small| between.starts_with(small));
    (is_small && at > 0).then(|| rest[..at].to_owned())
}
