//! A question as it is compared with texts.

use super::super::words::{normal, search_words};

#[derive(Clone, Debug)]
pub struct Question {
    /// Each word once, in their order.
    pub(super) words: Vec<String>,
    pub(super) text: String,
    /// Asks for a time.
    pub(super) when: bool,
}

impl Question {
    pub fn new(text: &str) -> Question {
        let mut words: Vec<String> = Vec::new();
        for word in search_words(text) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        let text = normal(text);
        let when = WHEN.iter().any(|ask| text.contains(ask));
        Question { words, text, when }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }
}

const WHEN: &[&str] =
    &["when ", "how long", "which year", "what year", "which month", "what date", "what day", "いつ", "何日", "何時"];
