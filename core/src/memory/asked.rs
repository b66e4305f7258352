//! "Please forget what I said about …" in people's words, said to the bot: what is to be forgotten, if it is such a
//! request.
//!
//! A text is split into clauses; one of them has to be the request. In English the clause begins with it, apart from a
//! "please" and the like; in Japanese it ends with it. "Don't remember …" asks for the same. "Don't forget what I said" and
//! "I forgot" are no requests, and neither is one that names nothing to look for.

use std::collections::BTreeSet;

use super::words::{alike, normal, search_words};

/// What somebody wants the bot to forget of what they said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetTopic {
    words: Vec<String>,
}

/// A request is short.
const CHARS_MAX: usize = 300;

/// What a message asks the bot to forget. `None` if it does not, or does not say what.
pub fn asked_to_forget(text: &str) -> Option<ForgetTopic> {
    if text.chars().count() > CHARS_MAX || text.contains("```") {
        return None;
    }
    let text = without_mentions(&normal(text));
    let clauses = clauses(&text);
    let polite = clauses.iter().flat_map(|clause| clause.text.split_whitespace()).any(|word| PLEASE.contains(&word));
    let topic = (0..clauses.len())
        .find_map(|at| japanese_topic(&clauses, at).or_else(|| english_topic(clauses[at].text, polite)))?;
    let words = search_words(&topic);
    (!words.is_empty()).then_some(ForgetTopic { words })
}

impl ForgetTopic {
    /// Whether a text is about it: it has at least half of the words, in one of their forms.
    pub fn is_in(&self, text: &str) -> bool {
        let said: BTreeSet<String> = search_words(text).into_iter().collect();
        let has = |word: &&String| said.contains(*word) || alike(word).iter().any(|other| said.contains(other));
        let found = self.words.iter().filter(has).count();
        found > 0 && 2 * found >= self.words.len()
    }
}

fn without_mentions(text: &str) -> String {
    let mut rest = text.to_owned();
    while let Some(start) = rest.find("<@") {
        let Some(end) = rest[start..].find('>') else { break };
        rest.replace_range(start..=start + end, ", ");
    }
    rest
}

/// A part of a sentence, and the punctuation after it.
struct Clause<'a> {
    text: &'a str,
    sign: Option<char>,
}

impl Clause<'_> {
    /// Whether the sentence continues after it.
    fn goes_on(&self) -> bool {
        matches!(self.sign, Some('、' | ','))
    }
}

/// Split at punctuation that ends a sentence or a part of one; "node.js" contains no end.
fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, sign) in text.char_indices().filter(|(_, c)| ".,!?;\n、。".contains(*c)) {
        let end = at + sign.len_utf8();
        let goes_on = sign == '.' && text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if !goes_on {
            clauses.push(Clause { text: text[start..at].trim(), sign: Some(sign) });
            start = end;
        }
    }
    clauses.push(Clause { text: text[start..].trim(), sign: None });
    clauses
}

const VERBS: [&str; 5] = ["forget", "delete", "erase", "remove", "unlearn"];
/// After a "not" they ask for the same.
const KEEPING_VERBS: [&str; 8] = ["remember", "memorize", "memorise", "store", "save", "record", "keep", "log"];
const PLEASE: [&str; 4] = ["please", "pls", "plz", "kindly"];
/// What may be before the request.
const POLITE: [&str; 28] = [
    "please", "pls", "plz", "can", "could", "would", "will", "you", "hey", "hi", "hello", "ok", "okay", "so", "and",
    "also", "actually", "sorry", "now", "just", "kindly", "then", "want", "need", "to", "i", "i'd", "like",
];
/// Words that show that it is not such a request.
const ELSE: [&str; 31] = [
    "don't", "dont", "not", "never", "did", "didn't", "do", "does", "always", "can't", "cannot", "won't", "we", "they",
    "how", "why", "what", "when", "where", "who", "if", "should", "ever", "let's", "lets", "someone", "somebody",
    "anyone", "anybody", "he", "she",
];
const WISHES: [&str; 7] = ["can", "could", "would", "will", "want", "need", "like"];
const SAYINGS: [&str; 9] = ["said", "told", "mentioned", "wrote", "posted", "shared", "asked", "say", "typed"];
/// What may follow a request.
const CLOSINGS: [&str; 8] = ["please", "pls", "plz", "now", "thanks", "ok", "okay", "lol"];

/// `polite`: the text contains a "please".
fn english_topic(clause: &str, polite: bool) -> Option<String> {
    let mut words: Vec<&str> = clause.split_whitespace().filter(|word| !word.starts_with('@')).collect();
    while words.last().is_some_and(|last| CLOSINGS.contains(last)) {
        words.pop();
    }
    if let Some(verb) = words.iter().position(|word| KEEPING_VERBS.contains(word)) {
        return is_not_to(&words[..verb]).then(|| object_of(words[verb], &words[verb + 1..], false)).flatten();
    }
    let verb = words.iter().position(|word| VERBS.contains(word))?;
    let before = &words[..verb];
    is_order(before).then(|| object_of(words[verb], &words[verb + 1..], polite || is_asked(before))).flatten()
}

/// Whether the words before the verb make it a request.
fn is_order(before: &[&str]) -> bool {
    let unknown = before.iter().filter(|word| !POLITE.contains(word)).count();
    let has = |list: &[&str]| before.iter().any(|word| list.contains(word));
    // "You forget what I said" and "I forget what I said" are statements, "I want to forget" is about oneself.
    let tells = before.last().is_some_and(|word| matches!(*word, "you" | "i" | "to")) && !has(&WISHES);
    let is_own = has(&["i", "i'd"]) && !has(&["you"]);
    unknown <= 1 && !tells && !is_own && !has(&ELSE)
}

/// "Can you", "I want you to": somebody is asked, rather than given permission.
fn is_asked(before: &[&str]) -> bool {
    before.windows(2).any(|pair| WISHES.contains(&pair[0]) && pair[1] == "you")
}

/// "Please don't", "could you not": whether the words before a verb negate it as a request. "I don't", "don't you" do not.
fn is_not_to(before: &[&str]) -> bool {
    let before = match before {
        [rest @ .., "don't" | "dont"] | [rest @ .., "do", "not"] => rest,
        [rest @ .., "can" | "could" | "would", "you", "not"] => rest,
        [rest @ .., "can" | "could" | "would", "you", "please", "not"] => rest,
        _ => return false,
    };
    let unknown = before.iter().filter(|word| !POLITE.contains(word)).count();
    let is_about_people = |word: &&str| matches!(*word, "i" | "you" | "i'd" | "but");
    unknown <= 1 && !before.iter().any(|word| ELSE.contains(word) || is_about_people(word))
}

/// What is to be forgotten, from the words after the verb. `asked`: it is a request even if it could be a figure of speech,
/// as "forget about the weather" is.
fn object_of(verb: &str, words: &[&str], asked: bool) -> Option<String> {
    let after = |from: usize| (from < words.len()).then(|| words[from..].join(" "));
    let about = |from: usize| {
        let found =
            words[from..].iter().position(|word| matches!(*word, "about" | "on" | "regarding" | "concerning" | "of"));
        found.and_then(|at| after(from + at + 1))
    };
    let said = words.iter().position(|word| SAYINGS.contains(word));
    let by_me = |at: usize| words[..at].iter().any(|word| matches!(*word, "i" | "i've" | "i'd"));
    if let Some(said) = said.filter(|at| by_me(*at) && *at <= 6) {
        return about(said);
    }
    let of_thoughts = matches!(verb, "forget" | "remember" | "memorize" | "memorise");
    match words {
        ["about", "my", ..] => after(2),
        // "Don't keep my seat" is about a seat.
        ["my", ..] if verb != "keep" => after(1),
        ["that", "i" | "i'm" | "i've" | "i'd" | "i'll" | "my", ..] if of_thoughts => after(2),
        ["about", ..] if of_thoughts && asked => after(1),
        [
            what,
            "you",
            "know" | "remember" | "noted" | "learned" | "learnt" | "have",
            "about" | "of" | "on",
            "my",
            ..,
        ] if matches!(*what, "what" | "everything" | "all" | "whatever") => after(5),
        _ => None,
    }
}

/// What a request may end with.
const JAPANESE_ENDS: &str = "\
    ください 下さい くださいね くださいませんか くれ くれる くれない くれます くれますか くれません くれませんか くれないかな くれよ くれると助かる \
    くれると助かります ほしい 欲しい ほしいな ほしいです 欲しいです ほしいんだけど もらえる もらえます もらえますか もらえません もらえませんか もらえない \
    もらえないかな もらえると助かる もらえると助かります もらっていい もらっていいですか もらってもいい もらってもいいですか いただけますか いただけませんか 頂けますか \
    頂けませんか いただけると助かります ね よ いいよ ちょうだい ちょうだいね おいて おいてね おいてください おいてくれる おいてほしい お願い お願いします";
/// What is between the topic and the request.
const JAPANESE_LINKS: [&str; 5] = ["について", "に関して", "のこと", "の話", "の件"];
/// Who said it and when, after the link.
const JAPANESE_SAID: [&str; 7] =
    ["言ったこと", "話したこと", "書いたこと", "教えたこと", "言った話", "話した内容", "言った事"];
const JAPANESE_VERBS: [&str; 7] =
    ["忘れて", "忘れといて", "消して", "削除して", "覚えないで", "覚えておかないで", "記憶しないで"];
/// Phrases that name nothing that could be looked for: "what I said just now", "me".
const JAPANESE_NO_TOPICS: &str = "\
    こ そ あ ど 今 いま さっき 先 先ほど 先程 昨日 今日 前 この前 以前 今まで さっきまで これまで 全部 すべて 全て 私 僕 俺 わたし 自分 あなた 君 今の さっきの 昨日の";

/// The topic of the request with which the clause at this index ends. It may be in the clause before: 「手術の話、忘れて」.
fn japanese_topic(clauses: &[Clause<'_>], at: usize) -> Option<String> {
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

#[cfg(test)]
mod tests;
