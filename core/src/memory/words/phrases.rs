//! Detects repeated words of a person: words that nobody else said and that are not everyday talk, and runs of words.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{bare, rarity, walk};
use crate::types::stable_hash;

/// What somebody said, as hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phrases(BTreeSet<u64>);

/// How many consecutive words are no coincidence.
const RUN_WORDS: usize = 4;

impl Phrases {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds something they said.
    pub fn add(&mut self, text: &str) {
        each(text, &mut |hash| {
            self.0.insert(hash);
        });
    }

    /// Removes what others said too.
    pub fn remove(&mut self, text: &str) {
        each(text, &mut |hash| {
            self.0.remove(&hash);
        });
    }

    /// Removes what the other has too.
    pub fn remove_all(&mut self, other: &Phrases) {
        self.0.retain(|hash| !other.0.contains(hash));
    }

    /// Only what the other has as well.
    pub fn retain_common(&mut self, other: &Phrases) {
        self.0.retain(|hash| other.0.contains(hash));
    }

    /// Whether a text repeats any of it.
    pub fn are_in(&self, text: &str) -> bool {
        let mut found = false;
        if !self.0.is_empty() {
            each(text, &mut |hash| found |= self.0.contains(&hash));
        }
        found
    }
}

fn each(text: &str, see: &mut dyn FnMut(u64)) {
    let mut words: Vec<String> = Vec::new();
    walk(text, &mut |segment| {
        let Some(word) = bare(segment) else { return };
        if is_rare(segment) && is_rare(&word) {
            see(stable_hash(3, &word));
        }
        words.push(word);
    });
    for run in words.windows(RUN_WORDS) {
        see(stable_hash(4, &run.join(" ")));
    }
}

fn is_rare(word: &str) -> bool {
    let chars = word.chars().count();
    let long_enough = if word.is_ascii() { 4 } else { 3 };
    let has_digit = word.chars().any(|c| c.is_ascii_digit());
    (chars >= long_enough || (chars >= 3 && has_digit)) && rarity(word).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_and_runs_are_told_and_everyday_ones_are_not() {
        let mut said = Phrases::default();
        said.add("my locker opens with zanzibar77, remember to open the server room at noon");
        assert!(said.are_in("It was ZANZIBAR77.") && said.are_in("zanzibar77?"));
        assert!(!said.are_in("I will look at the server and the question."));
        said.remove("who has zanzibar77?");
        assert!(!said.are_in("It was zanzibar77."), "somebody else says it too");
        assert!(said.are_in("So remember to open the server room at noon, please"), "a run of words");
        let mut japanese = Phrases::default();
        japanese.add("合言葉はシマウマです");
        assert!(japanese.are_in("たしかシマウマでしたね"));
    }
}
