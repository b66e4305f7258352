//! A line as it is written into a snapshot.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::addressees::Addressees;
use super::lexicon::TELLS;
use super::line::TalkLine;
use super::marks::TextMarks;
use super::participants::Slot;
use super::reading::{Directness, Reading, WORDS_MAX};
use crate::types::Time;

#[derive(Serialize, Deserialize)]
pub(super) struct StoredLine<'a> {
    id: Cow<'a, str>,
    at: Time,
    author: Slot,
    reading: StoredReading,
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
    known: u8,
}

impl StoredLine<'_> {
    pub(super) fn of(line: &TalkLine, id: String, words: &[u16]) -> StoredLine<'static> {
        let TalkLine { at, author, parent, parent_author, sure, joins, conversation, replies, gone, .. } = *line;
        let Reading { to, address, question, marks, width, tells, known } = line.reading;
        let words_len = words.len() as u8;
        let bits = words.iter().fold(0u64, |bits, word| bits | 1u64 << (word & 63));
        let words = std::array::from_fn(|index| words.get(index).copied().unwrap_or(0));
        let reading = StoredReading { to, address, question, marks, width, tells, words, words_len, bits, known };
        let id = Cow::Owned(id);
        StoredLine { id, at, author, reading, parent, parent_author, sure, joins, conversation, replies, gone }
    }

    /// The line, its id and its words.
    pub(super) fn take(self) -> (TalkLine, String, Vec<u16>) {
        let StoredLine { id, at, author, reading, parent, parent_author, sure, joins, conversation, replies, gone } =
            self;
        let StoredReading { to, address, question, marks, width, tells, words, words_len, bits: _, known } = reading;
        let words = words[..usize::from(words_len).min(WORDS_MAX)].to_vec();
        let reading = Reading { to, address, question, marks, width, tells, known };
        let line = TalkLine {
            at,
            author,
            reading,
            parent,
            parent_author,
            sure,
            joins,
            conversation,
            replies,
            gone,
            ..TalkLine::default()
        };
        (line, id.into_owned(), words)
    }
}
