//! Looks for everyday words in a short text.

use aho_corasick::{AhoCorasick, MatchKind};

/// Longer messages are more than a set phrase.
const SET_PHRASE_BYTES_MAX: usize = 32;

/// Whether the text is one of these words (in lower case) and nothing else, laughter by "w" included.
pub fn is_any(text: &str, words: &[&str]) -> bool {
    if text.len() > SET_PHRASE_BYTES_MAX {
        return false;
    }
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '+').to_lowercase();
    let laughs = !plain.is_empty() && plain.chars().all(|c| matches!(c, 'w' | 'ｗ' | '草' | '笑'));
    laughs || (plain.is_empty() && !text.contains(['?', '？'])) || words.contains(&plain.as_str())
}

/// Phrases to be found inside a text: Latin ones between other characters than letters, others anywhere.
pub struct Phrases(AhoCorasick);

impl Phrases {
    pub fn new(phrases: &[&str]) -> Phrases {
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).ascii_case_insensitive(true);
        Phrases(builder.build(phrases).expect("a list of phrases fits into an automaton"))
    }

    pub fn stand_in(&self, text: &str) -> bool {
        self.0
            .find_iter(text)
            .any(|found| !text[found.range()].is_ascii() || is_whole(text, found.start(), found.end()))
    }
}

fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let joins = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    !joins(text.as_bytes()[..start].last()) && !joins(text.as_bytes().get(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_phrases_are_recognised_with_what_stands_around_them() {
        for text in ["LOL!!", "草", "wwww", "ｗｗ", "なるほど。", "...", "👍"] {
            assert!(is_any(text, &["lol", "草", "なるほど"]), "{text}");
        }
        for text in ["lol that is wrong", "草むしりした", "?", "why"] {
            assert!(!is_any(text, &["lol", "草"]), "{text}");
        }
    }

    #[test]
    fn words_are_whole_where_there_are_spaces() {
        let phrases = Phrases::new(&["thanks", "ty", "ありがとう", "教えて"]);
        for text in ["Thanks a lot", "どうもありがとうございます", "方法教えて", "ok ty"] {
            assert!(phrases.stand_in(text), "{text}");
        }
        assert!(!phrases.stand_in("city"));
    }
}
