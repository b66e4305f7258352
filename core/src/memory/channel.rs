//! What a channel is about: a running summary, its mood, its topics and who takes part.

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::types::{MessageId, PersonId, Time};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelMemory {
    #[serde(flatten)]
    pub origin: Origin,
    pub summary: Box<str>,
    /// A phrase.
    pub mood: Box<str>,
    pub topics: Vec<Box<str>>,
    /// Who takes part, in order of appearance, with the names people see.
    pub active: Vec<(PersonId, Box<str>)>,
    pub at: Time,
    /// The last record of the journal that it includes.
    pub up_to: u64,
    /// The latest messages that it includes; `MESSAGES_MAX` at most.
    pub messages: Vec<MessageId>,
}

/// How many messages a summary remembers as its sources.
pub const MESSAGES_MAX: usize = 500;

impl ChannelMemory {
    /// Whether it contains anything.
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.mood.is_empty() && self.topics.is_empty()
    }

    /// Everything it says.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        [&self.summary, &self.mood].into_iter().chain(&self.topics).map(|text| &**text)
    }

    /// Deletes every word; what was read counts as read.
    pub fn clear(&mut self) {
        self.summary = "".into();
        self.mood = "".into();
        self.topics.clear();
        self.active.clear();
        self.messages.clear();
    }

    /// Whether it may contain words of this message: it is among the latest, or there were more than it remembers.
    pub fn may_rest_on(&self, message: &MessageId) -> bool {
        !self.is_empty() && (self.messages.contains(message) || self.messages.len() >= MESSAGES_MAX)
    }
}
