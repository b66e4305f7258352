//! Conversations as they are written into a snapshot.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::addressees::Addressees;
use super::lexicon::TELLS;
use super::line::{Conversation, TalkLine};
use super::lines::TalkLines;
use super::marks::TextMarks;
use super::pace::UsualGap;
use super::participants::{Participants, Slot};
use super::reading::{Directness, Reading, WORDS_MAX};
use super::tracker::Conversations;
use crate::types::Time;

#[derive(Serialize, Deserialize)]
struct StoredConversations<'a> {
    lines: Vec<StoredLine<'a>>,
    people: Cow<'a, Participants>,
    list: Cow<'a, [Conversation]>,
    heard: u32,
    begun: u32,
    usual_gap: UsualGap,
}

impl Serialize for Conversations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Conversations { lines, people, list, heard, begun, usual_gap } = self;
        let (lines, people, list) = (lines.stored(*heard), Cow::Borrowed(people), Cow::Borrowed(list.as_slice()));
        StoredConversations { lines, people, list, heard: *heard, begun: *begun, usual_gap: *usual_gap }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Conversations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Conversations, D::Error> {
        let StoredConversations { lines, people, list, heard, begun, usual_gap } =
            StoredConversations::deserialize(deserializer)?;
        let (lines, people, list) = (TalkLines::of_stored(lines, heard), people.into_owned(), list.into_owned());
        Ok(Conversations { lines, people, list, heard, begun, usual_gap })
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct StoredLine<'a> {
    id: Cow<'a, str>,
    at: Time,
    author: Slot,
    reading: StoredReading,
    /// Number of the message it answers; its own where it answers none.
    parent: u32,
    parent_author: Slot,
    sure: u8,
    joins: bool,
    #[serde(rename = "strand")]
    conversation: u8,
    replies: u8,
    gone: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredReading {
    to: Addressees,
    address: Directness,
    question: u8,
    marks: TextMarks,
    width: u8,
    tells: [u8; TELLS.len()],
    /// Those that there are not are 0.
    words: [u16; WORDS_MAX],
    words_len: u8,
    /// One for each word; read by earlier versions alone.
    bits: u64,
    /// No longer kept.
    known: u8,
}

impl StoredLine<'_> {
    pub(super) fn of(line: &TalkLine, number: u32, id: String, words: &[u16]) -> StoredLine<'static> {
        let TalkLine { author, parent_back, parent_author, conversation, replies, ref reading, .. } = *line;
        let words_len = words.len() as u8;
        let bits = words.iter().fold(0u64, |bits, word| bits | 1u64 << (word & 63));
        let reading = StoredReading {
            to: reading.to,
            address: reading.directness(),
            question: reading.question(),
            marks: reading.marks(),
            width: reading.width(),
            tells: TELLS.map(|what| reading.tells(what)),
            words: std::array::from_fn(|index| words.get(index).copied().unwrap_or(0)),
            words_len,
            bits,
            known: 0,
        };
        let (id, at, parent) = (Cow::Owned(id), line.at(), number.wrapping_sub(parent_back.into()));
        let (sure, joins, gone) = (line.sure(), line.joins(), line.is_gone());
        StoredLine { id, at, author, reading, parent, parent_author, sure, joins, conversation, replies, gone }
    }

    /// The line, its id and its words.
    pub(super) fn take(self, number: u32) -> (TalkLine, String, Vec<u16>) {
        let StoredLine { id, at, author, reading: stored, parent, parent_author, conversation, replies, .. } = self;
        let words = stored.words[..usize::from(stored.words_len).min(WORDS_MAX)].to_vec();
        let mut reading = Reading { to: stored.to, ..Reading::default() };
        reading.set_words(stored.tells, stored.width);
        reading.set_signs(stored.marks, stored.question, stored.address);
        // What is further back than any line that is kept is not looked up.
        let parent_back = u8::try_from(number.wrapping_sub(parent)).unwrap_or(u8::MAX);
        let mut line =
            TalkLine { parent_back, parent_author, conversation, replies, ..TalkLine::new(at, author, reading) };
        line.set_link(self.sure, self.joins);
        if self.gone {
            line.set_gone();
        }
        (line, id.into_owned(), words)
    }
}
