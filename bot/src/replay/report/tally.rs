//! Counts messages by outcome.

use aizuchi_core::effect::Outcome;

use super::words;
use crate::language::{Language, LocalizedMessage, message, say};

#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub ignored: u64,
    pub silent: u64,
    pub reacts: u64,
    pub acknowledges: u64,
    pub replies: u64,
}

impl Tally {
    /// Every outcome, the strongest first: the order in which they are stacked and listed.
    pub const ALL: [Outcome; 5] =
        [Outcome::Replies, Outcome::Acknowledges, Outcome::Reacts, Outcome::Silent, Outcome::Ignored];

    /// The outcomes that people hear or see.
    pub const ACTED: [Outcome; 3] = [Outcome::Replies, Outcome::Acknowledges, Outcome::Reacts];

    pub fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Ignored => self.ignored += 1,
            Outcome::Silent => self.silent += 1,
            Outcome::Reacts => self.reacts += 1,
            Outcome::Acknowledges => self.acknowledges += 1,
            Outcome::Replies => self.replies += 1,
        }
    }

    pub fn merge(&mut self, other: &Tally) {
        self.ignored += other.ignored;
        self.silent += other.silent;
        self.reacts += other.reacts;
        self.acknowledges += other.acknowledges;
        self.replies += other.replies;
    }

    pub fn of(&self, outcome: Outcome) -> u64 {
        match outcome {
            Outcome::Ignored => self.ignored,
            Outcome::Silent => self.silent,
            Outcome::Reacts => self.reacts,
            Outcome::Acknowledges => self.acknowledges,
            Outcome::Replies => self.replies,
        }
    }

    pub fn acted(&self) -> u64 {
        self.reacts + self.acknowledges + self.replies
    }

    pub fn all(&self) -> u64 {
        self.acted() + self.silent + self.ignored
    }

    /// "2 answered, 1 reacted"; empty if the bot did nothing.
    pub fn actions(&self, language: Language) -> String {
        let told = Tally::ACTED.iter().filter(|outcome| self.of(**outcome) > 0);
        let told: Vec<String> = told
            .map(|outcome| {
                say!(language, "report-action", n = words::count(self.of(*outcome)), action = action_name(*outcome))
            })
            .collect();
        told.join(&language.text("list-separator"))
    }
}

/// An action, as part of a sentence.
fn action_name(outcome: Outcome) -> LocalizedMessage {
    match outcome {
        Outcome::Ignored => message!("report-action-ignored"),
        Outcome::Silent => message!("report-action-silent"),
        Outcome::Reacts => message!("report-action-reacts"),
        Outcome::Acknowledges => message!("report-action-acknowledges"),
        Outcome::Replies => message!("report-action-replies"),
    }
}

pub fn acted(outcome: Outcome) -> bool {
    Tally::ACTED.contains(&outcome)
}
