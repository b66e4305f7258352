//! Detects that two facts cannot both hold: one denies the other, or they give the same thing different values.
//!
//! Only what the form of a sentence shows is detected: "Ken lives in Tokyo" and "Ken lives in Osaka" have one subject, one
//! verb of state and two places. People who like tea may like dogs as well: from such verbs nothing is concluded.

use super::Fact;
use super::words::{TextToken, is_rare, tokens, words};

/// Whether one of them no longer holds, if the other does.
pub fn contradicts(one: &Fact, other: &Fact) -> bool {
    if one.origin.room != other.origin.room {
        return false;
    }
    let (a, b) = (tokens(&one.content), tokens(&other.content));
    // "I" is the speaker.
    let personal = a.iter().chain(&b).any(|token| PERSONAL.contains(&token.normal.as_str()));
    if personal && (one.people.is_empty() || one.people != other.people) {
        return false;
    }
    denies(one, other, &a, &b) || has_other_value(&a, &b)
}

const PERSONAL: [&str; 14] =
    ["i", "i'm", "i've", "my", "me", "we", "our", "you", "your", "us", "私", "僕", "俺", "自分"];

/// The same words, and only one of them has a "not".
fn denies(one: &Fact, other: &Fact, a: &[TextToken], b: &[TextToken]) -> bool {
    if is_negative(a) == is_negative(b) {
        return false;
    }
    let said = words(&one.content);
    said.len() > 1 && said == words(&other.content)
}

/// Two "not" cancel each other out.
fn is_negative(tokens: &[TextToken]) -> bool {
    let text: String = tokens.iter().map(|token| token.normal.as_str()).collect();
    let negative = |token: &&TextToken| {
        let word = token.normal.as_str();
        matches!(word, "not" | "no" | "never" | "without") || word.ends_with("n't") || word == "cannot"
    };
    let english = tokens.iter().filter(negative).count();
    let japanese: usize =
        ["ない", "ません", "なかった", "没有", "不是"].iter().map(|form| text.matches(form).count()).sum();
    (english + japanese) % 2 == 1
}

/// The maximum number of words in a value.
const VALUE_WORDS: usize = 4;

fn has_other_value(a: &[TextToken], b: &[TextToken]) -> bool {
    let same = |(one, other): &(&TextToken, &TextToken)| one.normal == other.normal;
    let before = a.iter().zip(b).take_while(same).count();
    let left = a.len().min(b.len()) - before;
    let after = a.iter().rev().zip(b.iter().rev()).take(left).take_while(same).count();
    let (one, other) = (&a[before..a.len() - after], &b[before..b.len() - after]);
    if one.len().max(other.len()) > VALUE_WORDS || !(are_numbers(one, other) || are_names(one) && are_names(other)) {
        return false;
    }
    says_state_in_english(&a[..before], &a[a.len() - after..])
        || says_state_in_japanese(&a[..before], &a[a.len() - after..])
}

fn are_numbers(one: &[TextToken], other: &[TextToken]) -> bool {
    let has_number = |tokens: &[TextToken]| tokens.iter().any(|token| token.normal.chars().any(char::is_numeric));
    has_number(one) && has_number(other)
}

fn are_names(tokens: &[TextToken]) -> bool {
    !tokens.is_empty() && tokens.iter().all(TextToken::is_name)
}

impl TextToken {
    /// Written like a name: with a capital, in kanji or katakana; or a rare word.
    fn is_name(&self) -> bool {
        let Some(first) = self.original.chars().next() else { return false };
        let foreign = !first.is_ascii() && first.is_alphabetic() && !matches!(first, 'ぁ'..='ゟ');
        first.is_uppercase() || foreign || (first.is_ascii_lowercase() && is_rare(&self.normal))
    }
}

/// Verbs that have one place, time or number at a time.
const STATES: [&str; 26] = [
    "is", "are", "was", "were", "lives", "live", "works", "work", "studies", "costs", "cost", "starts", "start",
    "begins", "opens", "open", "closes", "close", "ends", "end", "located", "held", "place", "meets", "stays", "sits",
];
/// What may be between such a verb and its value.
const BETWEEN: [&str; 18] = [
    "in",
    "at",
    "on",
    "to",
    "from",
    "for",
    "by",
    "the",
    "a",
    "an",
    "now",
    "currently",
    "called",
    "about",
    "near",
    "of",
    "until",
    "since",
];

/// Subject, verb of state and only function words before the value; after it at most more of where and when.
fn says_state_in_english(before: &[TextToken], after: &[TextToken]) -> bool {
    let is_small = |token: &TextToken| BETWEEN.contains(&token.normal.as_str());
    let Some(verb) = before.iter().rposition(|token| !is_small(token)) else { return false };
    // Without a word before it there is no subject.
    let states = verb > 0 && STATES.contains(&before[verb].normal.as_str());
    let small_after = after.first().is_none_or(|token| is_small(token) || token.normal == "with");
    states && small_after
}

/// What a sentence of state ends with.
const STATES_IN_JAPANESE: [&str; 14] =
    ["住", "働", "勤め", "開催", "行われ", "開か", "ある", "あり", "です", "だ", "始ま", "終わ", "円", "になっ"];

fn says_state_in_japanese(before: &[TextToken], after: &[TextToken]) -> bool {
    let has_topic = before.iter().rposition(|token| matches!(token.normal.as_str(), "は" | "が"));
    let end: String = after.iter().map(|token| token.normal.as_str()).collect();
    has_topic.is_some_and(|topic| topic > 0) && STATES_IN_JAPANESE.iter().any(|state| end.contains(state))
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;
    use crate::types::PersonId;

    #[test]
    fn another_value_or_a_not_contradicts() {
        for (one, other) in [
            ("Ken lives in Tokyo", "Ken lives in Osaka"),
            ("The festival takes place in Tokyo", "The festival takes place in Osaka"),
            ("The door code is 4711", "The door code is 9876"),
            ("The meeting is at 10 on Monday", "The meeting is at 11 on Monday"),
            ("Ann likes green tea", "Ann does not like green tea"),
            ("田中さんは東京に住んでいる", "田中さんは大阪に住んでいる"),
            ("集合は10時です", "集合は11時です"),
            ("田中さんは納豆を食べる", "田中さんは納豆を食べない"),
        ] {
            assert!(contradicts(&fact(1, one), &fact(2, other)), "{one} / {other}");
        }
    }

    #[test]
    fn what_may_hold_beside_it_does_not() {
        for (one, other) in [
            ("Ann likes tea", "Ann likes dogs"),
            ("Ken lives in Tokyo", "Mia lives in Tokyo"),
            ("Ann is a friend of Bob", "Ann is a friend of Carol"),
            ("Ann is Bob's sister", "Ann is Carol's sister"),
            ("Ann is happy", "Ann is tired"),
            ("row 1 has 2 seats", "row 2 has 1 seats"),
            ("Ken lives in Tokyo", "Ken lives in Tokyo"),
            ("I live in Tokyo", "I live in Osaka"),
            ("田中さんは東京に住んでいる", "佐藤さんは東京に住んでいる"),
            ("田中さんは猫が好き", "田中さんは犬が好き"),
        ] {
            assert!(!contradicts(&fact(1, one), &fact(2, other)), "{one} / {other}");
        }
    }

    #[test]
    fn anyone_who_speaks_of_themselves_can_contradict_only_themselves() {
        let said = |id, by: &str, content: &str| Fact { people: vec![PersonId::new(by)], ..fact(id, content) };
        assert!(contradicts(&said(1, "ken", "I live in Tokyo"), &said(2, "ken", "I live in Osaka")));
        assert!(!contradicts(&said(1, "ken", "I live in Tokyo"), &said(2, "mia", "I live in Osaka")));
    }
}
