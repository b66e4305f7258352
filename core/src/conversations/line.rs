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
    /// How many words of it are kept, and how much of its id is its own: both are kept beside the lines.
    pub words_len: u8,
    pub id_len: u16,
    /// The [`bits_of`](super::reading::bits_of) its words.
    pub word_bits: u32,
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
    pub people: SlotSet,
    pub starter: Slot,
    /// Messages since somebody joined it.
    pub settled: u16,
    /// Who spoke in it last, and the last other person before.
    pub speaker: Slot,
    pub speaker_before: Slot,
}

impl Conversation {
    pub(crate) fn has(&self, slot: Slot) -> bool {
        slot != NOBODY && self.people.has(slot)
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
        let SlotSet([high, low]) = self.people;
        low.count_ones() + if high == 0 { 0 } else { high.count_ones() }
    }

    pub(crate) fn others_than(&self, slot: Slot) -> u32 {
        self.count() - u32::from(self.has(slot))
    }
}

/// Some of the people of a place: one bit for each slot, the upper half first. Two numbers, because one of 128 bits would make a
/// conversation a multiple of sixteen bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SlotSet([u64; 2]);

impl SlotSet {
    #[inline]
    fn half_of(slot: Slot) -> usize {
        1 - usize::from(slot >> 6 & 1)
    }

    #[inline]
    fn has(self, slot: Slot) -> bool {
        self.0[SlotSet::half_of(slot)] >> (slot & 63) & 1 == 1
    }

    pub(crate) fn is_empty(self) -> bool {
        self == SlotSet::default()
    }

    pub(crate) fn insert(&mut self, slot: Slot) {
        self.0[SlotSet::half_of(slot)] |= 1 << (slot & 63);
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        self.0[SlotSet::half_of(slot)] &= !(1 << (slot & 63));
    }

    pub(crate) fn bits(self) -> u128 {
        u128::from(self.0[0]) << 64 | u128::from(self.0[1])
    }
}
