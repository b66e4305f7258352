//! What is kept of a message, and of a conversation: numbers and hashes, no text.

use serde::{Deserialize, Serialize};

use super::participants::{NOBODY, Slot};
use super::reading::Reading;
use crate::types::Time;

/// Messages a place remembers for this.
pub(super) const LINES_MAX: usize = 64;
/// So many more may lie there until they are removed together: moving the rest along for each would cost more.
pub(super) const LINES_OVER: usize = 4;

#[derive(Clone, Debug, Default)]
pub(crate) struct TalkLine {
    pub at: Time,
    pub author: Slot,
    pub reading: Reading,
    /// Number of the message it answers; its own where it answers none.
    pub parent: u32,
    /// Who wrote that, if anybody.
    pub parent_author: Slot,
    /// How sure that is, in 63rds.
    pub sure: u8,
    /// Somebody who was not in the conversation until then answers somebody in it.
    pub joins: bool,
    /// Index of its conversation in the list of them.
    pub conversation: u8,
    pub replies: u8,
    /// Deleted, or its author is forgotten.
    pub gone: bool,
    /// How many words of it are kept, and how long its id is: both are kept beside the lines.
    pub words_len: u8,
    pub id_len: u32,
}

/// A conversation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Conversation {
    /// Counted within the place, never used twice.
    pub number: u32,
    pub began: Time,
    /// Number of its newest message.
    pub last: u32,
    pub lines: u16,
    /// One bit for each slot of those in it.
    #[serde(with = "halves")]
    pub people: u128,
    pub starter: Slot,
    /// Messages since somebody joined it.
    pub settled: u16,
    /// Who spoke in it last, and the last other person before.
    pub speaker: Slot,
    pub speaker_before: Slot,
}

impl Conversation {
    pub(crate) fn has(&self, slot: Slot) -> bool {
        slot != NOBODY && self.people >> slot & 1 == 1
    }

    /// Somebody speaks in it.
    pub(crate) fn note_speaker(&mut self, slot: Slot) {
        if self.speaker != slot {
            (self.speaker_before, self.speaker) = (self.speaker, slot);
        }
    }

    /// How many are in it. Few places have so many people that the upper half counts.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        let (low, high) = (self.people as u64, (self.people >> 64) as u64);
        low.count_ones() + if high == 0 { 0 } else { high.count_ones() }
    }

    pub(crate) fn others_than(&self, slot: Slot) -> u32 {
        self.count() - u32::from(self.has(slot))
    }
}

/// A number too long for JSON, written as two.
mod halves {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        ((number >> 64) as u64, *number as u64).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u128, D::Error> {
        let (high, low) = <(u64, u64)>::deserialize(deserializer)?;
        Ok(u128::from(high) << 64 | u128::from(low))
    }
}
