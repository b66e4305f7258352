//! A question as it is compared with texts.

use std::collections::BTreeSet;

use super::super::words::{normal, search_words};

#[derive(Clone, Debug)]
pub struct SearchQuestion {
    /// Each word once, in their order.
    pub(super) words: Vec<String>,
    pub(super) text: String,
    /// Asks for a time.
    pub(super) when: bool,
    /// Asks for a number.
    pub(super) how_many: bool,
}

impl SearchQuestion {
    pub fn new(text: &str) -> SearchQuestion {
        let mut seen = BTreeSet::new();
        let words = search_words(text).into_iter().filter(|word| seen.insert(word.clone())).take(WORDS_MAX).collect();
        let text = normal(text);
        let when = WHEN.iter().any(|ask| text.contains(ask));
        let how_many = HOW_MANY.iter().any(|ask| text.contains(ask));
        SearchQuestion { words, text, when, how_many }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The weight of a word of it: less for words that occur in many questions.
    pub(super) fn weight(word: &str) -> f64 {
        if FRAME.binary_search(&word).is_ok() { FRAME_WEIGHT } else { 1.0 }
    }
}

/// Each word is looked for: of a pasted page, only the first ones.
const WORDS_MAX: usize = 64;

/// The weight of typical question words relative to those of the subject.
const FRAME_WEIGHT: f64 = 0.5;

/// In their normalized form, in alphabetical order.
const FRAME: &[&str] = &[
    "activ", "ask", "becom", "begin", "come", "current", "day", "decid", "describ", "discuss", "do", "exampl",
    "favorit", "favourit", "feel", "find", "first", "get", "give", "go", "happen", "help", "import", "keep", "kind",
    "last", "like", "long", "look", "make", "mani", "mention", "month", "much", "name", "new", "often", "plan",
    "receiv", "recent", "say", "see", "share", "sort", "specif", "start", "take", "talk", "tell", "thing", "think",
    "time", "type", "use", "want", "way", "week", "year",
];

const WHEN: &[&str] =
    &["when ", "how long", "which year", "what year", "which month", "what date", "what day", "いつ", "何日", "何時"];

const HOW_MANY: &[&str] =
    &["how many", "how much", "how often", "how long", "how old", "what time", "いくつ", "いくら", "何回", "何人"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_pasted_page_the_first_words_are_looked_for() {
        let page: String = (0..1_000).map(|number| format!("word{number} word{number} ")).collect();
        let question = SearchQuestion::new(&page);
        assert_eq!(question.words().len(), WORDS_MAX);
        assert_eq!(question.words()[..2], ["word0", "word1"]);
    }
}
