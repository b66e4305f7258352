//! What is kept of a message, and of a conversation: numbers and hashes, no text.

use serde::{Deserialize, Serialize};

use super::participants::{NOBODY, Slot};
use super::reading::Reading;
use crate::types::{ShortTime, Time};

/// Messages a place remembers for this.
pub(super) const LINES_MAX: usize = 64;
/// So many more may lie there until they are removed together: moving the rest along for each would cost more.
pub(super) const LINES_OVER: usize = 4;

/// What is kept of a message, in 24 bytes: all lines of a place are looked through for each message, and most places are in no
/// cache when somebody speaks there.
#[derive(Clone, Debug, Default)]
pub(crate) struct TalkLine {
    pub(super) said_at: ShortTime,
    pub reading: Reading,
    pub author: Slot,
    /// How many lines before it the message is that it answers; 0 where it answers none.
    pub parent_back: u8,
    /// Who wrote that, if anybody.
    pub parent_author: Slot,
    pub(super) link: LinkState,
    /// Index of its conversation in the list of them.
    pub conversation: u8,
    pub replies: u8,
    /// How many words of it are kept, and how much of its id is its own: both are kept beside the lines.
    pub words_len: u8,
    pub id_len: u16,
}

impl TalkLine {
    pub(super) fn new(at: Time, author: Slot, reading: Reading) -> TalkLine {
        TalkLine { said_at: at.into(), author, reading, ..TalkLine::default() }
    }

    #[inline]
    pub(crate) fn at(&self) -> Time {
        self.said_at.into()
    }

    pub(super) fn set_at(&mut self, at: Time) {
        self.said_at = at.into();
    }

    /// It answers nothing.
    #[inline]
    pub(crate) fn is_start(&self) -> bool {
        self.parent_back == 0
    }

    /// How sure it is what it answers, in 63rds.
    #[inline]
    pub(crate) fn sure(&self) -> u8 {
        self.link.0 & LinkState::SURE_MAX
    }

    /// Somebody who was not in the conversation until then answers somebody in it.
    #[inline]
    pub(crate) fn joins(&self) -> bool {
        self.link.0 & LinkState::JOINS != 0
    }

    /// Deleted, or its author is forgotten.
    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.link.0 & LinkState::GONE != 0
    }

    pub(super) fn set_link(&mut self, sure: u8, joins: bool) {
        let joins = if joins { LinkState::JOINS } else { 0 };
        self.link = LinkState(sure.min(LinkState::SURE_MAX) | joins | self.link.0 & LinkState::GONE);
    }

    pub(super) fn set_gone(&mut self) {
        self.link.0 |= LinkState::GONE;
    }
}

/// How sure the link of a line is, in the lower six bits, and two flags.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LinkState(u8);

impl LinkState {
    const SURE_MAX: u8 = 63;
    const JOINS: u8 = 64;
    const GONE: u8 = 128;
}

/// A conversation, in 34 bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(Rust, packed(2))]
pub(crate) struct Conversation {
    /// Counted within the place, never used twice.
    pub number: u32,
    pub began: ShortTime,
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

    /// How many are in it. Few places have so many people that the last part counts.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        let SlotSet([a, b, c, d, high @ ..]) = self.people;
        let low = u64::from(a) | u64::from(b) << 16 | u64::from(c) << 32 | u64::from(d) << 48;
        low.count_ones() + if high == [0; 2] { 0 } else { high.map(u16::count_ones).iter().sum() }
    }

    pub(crate) fn others_than(&self, slot: Slot) -> u32 {
        self.count() - u32::from(self.has(slot))
    }
}

/// Some of the people of a place: one bit for each slot, the lowest first. Six small numbers, because there are 96 slots, and
/// one conversation is kept for every few lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 2]", into = "[u64; 2]")]
pub(crate) struct SlotSet([u16; 6]);

impl SlotSet {
    #[inline]
    fn has(self, slot: Slot) -> bool {
        self.0.get(usize::from(slot >> 4)).is_some_and(|part| part >> (slot & 15) & 1 == 1)
    }

    pub(crate) fn is_empty(self) -> bool {
        self == SlotSet::default()
    }

    pub(crate) fn insert(&mut self, slot: Slot) {
        if let Some(part) = self.0.get_mut(usize::from(slot >> 4)) {
            *part |= 1 << (slot & 15);
        }
    }

    pub(crate) fn remove(&mut self, slot: Slot) {
        if let Some(part) = self.0.get_mut(usize::from(slot >> 4)) {
            *part &= !(1 << (slot & 15));
        }
    }

    pub(crate) fn bits(self) -> u128 {
        self.0.into_iter().rev().fold(0, |bits, part| bits << 16 | u128::from(part))
    }
}

/// Written as two halves, the upper one first.
impl From<SlotSet> for [u64; 2] {
    fn from(set: SlotSet) -> [u64; 2] {
        [(set.bits() >> 64) as u64, set.bits() as u64]
    }
}

impl From<[u64; 2]> for SlotSet {
    fn from([high, low]: [u64; 2]) -> SlotSet {
        let bits = u128::from(high) << 64 | u128::from(low);
        SlotSet(std::array::from_fn(|index| (bits >> (16 * index)) as u16))
    }
}
