//! "Please forget what I said about …" in people's words, said to the bot: what is to be forgotten, if it is that.
//!
//! A text is cut into clauses; one of them has to be the request. In English it begins with it, apart from a "please" and the
//! like; in Japanese it ends with it. "Don't forget what I said" and "I forgot" are none.

use std::collections::BTreeSet;

use super::words::{alike, normal, search_words};

/// What somebody wants to be forgotten of what they said.
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
    let topic =
        clauses(&text).into_iter().find_map(|clause| japanese_topic(clause).or_else(|| english_topic(clause)))?;
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

/// Cut at the signs that end a sentence or a part of one; "node.js" is no end.
fn clauses(text: &str) -> Vec<&str> {
    let mut clauses = Vec::new();
    let mut start = 0;
    for (at, sign) in text.char_indices().filter(|(_, c)| ".,!?;\n、。".contains(*c)) {
        let end = at + sign.len_utf8();
        let goes_on = sign == '.' && text[end..].chars().next().is_some_and(char::is_alphanumeric);
        if !goes_on {
            clauses.push(text[start..at].trim());
            start = end;
        }
    }
    clauses.push(text[start..].trim());
    clauses
}

const VERBS: [&str; 5] = ["forget", "delete", "erase", "remove", "unlearn"];
/// What may be before the request.
const POLITE: [&str; 26] = [
    "please", "pls", "plz", "can", "could", "would", "will", "you", "hey", "hi", "hello", "ok", "okay", "so", "and",
    "also", "actually", "sorry", "now", "just", "kindly", "then", "want", "need", "to", "i",
];
/// What makes something else of it.
const ELSE: [&str; 14] = [
    "don't", "dont", "not", "never", "did", "didn't", "do", "does", "always", "can't", "cannot", "won't", "we", "they",
];
const WISHES: [&str; 6] = ["can", "could", "would", "will", "want", "need"];
const SAYINGS: [&str; 9] = ["said", "told", "mentioned", "wrote", "posted", "shared", "asked", "say", "typed"];

fn english_topic(clause: &str) -> Option<String> {
    let words: Vec<&str> = clause.split_whitespace().filter(|word| !word.starts_with('@')).collect();
    let verb = words.iter().position(|word| VERBS.contains(word))?;
    let before = &words[..verb];
    let unknown = before.iter().filter(|word| !POLITE.contains(word)).count();
    let is_wish = before.iter().any(|word| WISHES.contains(word));
    // "You forget what I said" and "I forget what I said" tell something.
    let tells = before.last().is_some_and(|word| matches!(*word, "you" | "i" | "to")) && !is_wish;
    if unknown > 1 || tells || before.iter().any(|word| ELSE.contains(word)) {
        return None;
    }
    object_of(words[verb], &words[verb + 1..])
}

/// What is to be forgotten, by the words that follow the verb.
fn object_of(verb: &str, words: &[&str]) -> Option<String> {
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
    match words {
        ["about", "my", ..] => after(2),
        ["my", ..] => after(1),
        ["that", "i", ..] if verb == "forget" => after(2),
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
const JAPANESE_ENDS: [&str; 20] = [
    "",
    "ください",
    "下さい",
    "くれ",
    "くれる",
    "くれない",
    "くれますか",
    "くれませんか",
    "ほしい",
    "欲しい",
    "ほしいです",
    "もらえる",
    "もらえますか",
    "もらえませんか",
    "ね",
    "よ",
    "いいよ",
    "ちょうだい",
    "おいて",
    "おいてください",
];
/// What is between the topic and the request.
const JAPANESE_LINKS: [&str; 5] = ["について", "に関して", "のこと", "の話", "の件"];
/// Who said it and when, behind the link.
const JAPANESE_SAID: [&str; 7] =
    ["言ったこと", "話したこと", "書いたこと", "教えたこと", "言った話", "話した内容", "言った事"];

fn japanese_topic(clause: &str) -> Option<String> {
    let verb = ["忘れて", "消して", "削除して"].iter().find_map(|verb| Some((clause.rfind(verb)?, *verb)))?;
    let (at, verb) = verb;
    let end = clause[at + verb.len()..].trim_matches([' ', '\u{3000}', '~', '〜', '♪', 'ー']);
    if !JAPANESE_ENDS.contains(&end) {
        return None;
    }
    let before = clause[..at].trim_end();
    let before = before.strip_suffix(['は', 'を', 'も']).unwrap_or(before).trim_end();
    let (said, before) = JAPANESE_SAID
        .iter()
        .find_map(|said| before.strip_suffix(said).map(|rest| (true, rest)))
        .unwrap_or((false, before));
    // What is deleted may be anything else than what was said.
    if !said && verb != "忘れて" {
        return None;
    }
    let link = JAPANESE_LINKS.iter().filter_map(|link| Some((before.rfind(link)?, link.len()))).max()?;
    let between = &before[link.0 + link.1..];
    let is_small = between.is_empty()
        || ["私が", "僕が", "俺が", "さっき", "昨日", "前に", "先ほど", "今日"]
            .iter()
            .any(|small| between.starts_with(small));
    (is_small && link.0 > 0).then(|| before[..link.0].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_understood_with_what_it_is_about() {
        for (text, about, other) in [
            ("aizuchi, please forget what I said about my new job", "I start my new job on Monday", "lunch is at noon"),
            ("<@123> can you forget everything I told you about Osaka?", "I moved to Osaka", "I like tea"),
            ("@aizuchi forget my phone number please", "my phone number is 555 0100", "my door is red"),
            ("Could you please delete what I mentioned yesterday about the surgery", "the surgery went well", "hello"),
            ("forget that I live in Kyoto", "I live in Kyoto", "I have a dog"),
            ("aizuchi、転職について言ったこと忘れて", "来月転職するんだ", "昼はカレーだった"),
            ("さっきの手術の話は忘れてください", "手術は来週です", "猫が好き"),
            ("@相槌 私の住所のことは忘れてほしい", "住所は京都です", "猫が好き"),
            ("転職について私が言ったことを消して", "転職した", "猫が好き"),
        ] {
            let topic = asked_to_forget(text).unwrap_or_else(|| panic!("{text}"));
            assert!(topic.is_in(about), "{text}: {about}");
            assert!(!topic.is_in(other), "{text}: {other}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_none() {
        for text in [
            "don't forget what I said about my job",
            "did you forget what I said about my job?",
            "I forget what I said about my job",
            "you always forget what I said about tea",
            "forget it",
            "forget about that",
            "never mind",
            "what did I say about my job?",
            "I forgot my keys",
            "how do I delete my branch in git?",
            "宿題を忘れてきた",
            "転職について言ったこと忘れてないよね",
            "転職について言ったこと忘れないで",
            "財布のこと忘れてた",
            "電気を消して",
            "",
        ] {
            assert_eq!(asked_to_forget(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_said_is_read(text in ".*", about in ".*") {
            if let Some(topic) = asked_to_forget(&format!("{text}, forget what I said about {about}")) {
                topic.is_in(&text);
            }
        }
    }
}
