//! What a writer gets beside the talk.

use serde::{Deserialize, Serialize};

use super::{ChannelMemory, KnownPair, KnownPerson, Recalled};

/// Only what the readers of the answer may know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memories {
    pub channel: Option<ChannelMemory>,
    pub people: Vec<KnownPerson>,
    pub facts: Vec<Recalled>,
    /// Which of the participants answer each other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<KnownPair>,
}

impl Memories {
    pub fn is_empty(&self) -> bool {
        let nothing_of_channel = self.channel.as_ref().is_none_or(ChannelMemory::is_empty);
        nothing_of_channel && self.people.is_empty() && self.facts.is_empty() && self.pairs.is_empty()
    }
}
