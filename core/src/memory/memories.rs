//! What an answer is written with, beside the talk.

use serde::{Deserialize, Serialize};

use super::{ChannelMemory, KnownPerson, Recalled};

/// Only what those who will read the answer may know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memories {
    pub channel: Option<ChannelMemory>,
    pub people: Vec<KnownPerson>,
    pub facts: Vec<Recalled>,
}

impl Memories {
    pub fn is_empty(&self) -> bool {
        self.channel.as_ref().is_none_or(ChannelMemory::is_empty) && self.people.is_empty() && self.facts.is_empty()
    }
}
