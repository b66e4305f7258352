//! What was said in a place lately: a ring of small records over one run of text.
//!
//! A hundred thousand rooms fit into memory because a message costs its text, its id and one record.

use serde::{Deserialize, Serialize};

use crate::types::{Span, Time, Voice, stable_hash};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Buffer {
    /// Oldest first. A full buffer moves its few records along for each new one: cheaper than a ring to look through.
    records: Vec<Record>,
    /// Id and text of each record, end to end, behind a stretch that older records have left.
    text: String,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Record {
    at: Time,
    /// Where the id begins in the text; the words follow it and end where the next record begins.
    start: u32,
    speaker: u16,
    id_len: u16,
    /// Length in characters, or `CHARS_MANY`.
    chars: u16,
    flags: Flags,
    /// A little of the id's hash, to find it without reading the text.
    id_mark: u8,
}

const CHARS_MANY: u16 = u16::MAX;
const ID_BYTES_MAX: usize = 1000;
/// How much of the text may be left over from dropped records before it is moved together.
const SLACK_BYTES: usize = 384;

/// What was noticed once, when the message came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Flags(u8);

impl Flags {
    /// Its own post.
    pub const OWN: Flags = Flags(1);
    /// Another bot's.
    pub const BOT: Flags = Flags(2);
    /// Holds its name.
    pub const NAMED: Flags = Flags(4);
    /// Holds a keyword.
    pub const KEYWORD: Flags = Flags(8);
    /// Asks for help or calls on everybody.
    pub const CALL: Flags = Flags(16);
    /// Thanks, says goodbye, or that this is all.
    pub const CLOSING: Flags = Flags(32);

    pub fn of_person(self) -> bool {
        !self.has(Flags::OWN | Flags::BOT)
    }

    /// Who said it, without what it says.
    pub fn voice_only(self) -> Flags {
        Flags(self.0 & (Flags::OWN.0 | Flags::BOT.0))
    }

    pub fn when(self, holds: bool) -> Flags {
        if holds { self } else { Flags(0) }
    }

    pub fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One remembered message. Its words are looked up when somebody asks for them.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    buffer: &'a Buffer,
    place: usize,
    pub at: Time,
    pub speaker: u16,
    pub flags: Flags,
}

impl<'a> Heard<'a> {
    pub fn id(&self) -> &'a str {
        let record = &self.buffer.records[self.place];
        let start = record.start as usize;
        &self.buffer.text[start..start + usize::from(record.id_len)]
    }

    pub fn text(&self) -> &'a str {
        let record = &self.buffer.records[self.place];
        &self.buffer.text[record.start as usize + usize::from(record.id_len)..self.buffer.end(self.place)]
    }

    pub fn is_person(&self) -> bool {
        self.flags.of_person()
    }

    pub fn voice(&self) -> Voice {
        if self.flags.has(Flags::OWN) {
            Voice::Me
        } else if self.flags.has(Flags::BOT) {
            Voice::Bot
        } else {
            Voice::Person
        }
    }

    /// Length of the words in characters.
    pub fn chars(&self) -> usize {
        match self.buffer.records[self.place].chars {
            CHARS_MANY => self.text().chars().count(),
            chars => chars.into(),
        }
    }
}

/// What is put into the buffer.
pub struct Entry<'a> {
    pub at: Time,
    pub speaker: u16,
    pub flags: Flags,
    pub id: &'a str,
    pub text: &'a str,
}

fn cut_id(id: &str) -> &str {
    &id[..id.floor_char_boundary(ID_BYTES_MAX)]
}

fn mark_of(id: &str) -> u8 {
    stable_hash(0, id) as u8
}

fn chars_of(text: &str) -> u16 {
    // A character takes at least one byte, so short texts need no saturation.
    text.chars().count().min(CHARS_MANY.into()) as u16
}

impl Buffer {
    pub fn len(&self) -> usize {
        self.records.len()
    }

    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Heard<'_>> + ExactSizeIterator {
        self.records.iter().enumerate().map(|(place, record)| self.heard(place, record))
    }

    pub fn newest(&self) -> Option<Heard<'_>> {
        self.records.len().checked_sub(1).map(|last| self.get(last))
    }

    /// A time no earlier than that of the oldest: messages may arrive a little out of order.
    pub fn latest(&self) -> Option<Time> {
        self.records.first().zip(self.records.last()).map(|(oldest, newest)| oldest.at.max(newest.at))
    }

    /// The newest `window` messages said after `since`, newest first, of which only those that `wanted` names are kept.
    /// Written as a plain loop: it runs for every message.
    pub fn newest_of(
        &self,
        window: usize,
        young: impl Fn(Time) -> bool,
        wanted: impl Fn(Flags) -> bool,
    ) -> Vec<Heard<'_>> {
        let mut kept = Vec::with_capacity(window.min(self.records.len()));
        let mut looked_at = 0;
        for (place, record) in self.records.iter().enumerate().rev() {
            if looked_at == window {
                break;
            }
            if young(record.at) {
                looked_at += 1;
                if wanted(record.flags) {
                    kept.push(self.heard(place, record));
                }
            }
        }
        kept
    }

    fn get(&self, place: usize) -> Heard<'_> {
        self.heard(place, &self.records[place])
    }

    fn heard<'a>(&'a self, place: usize, record: &Record) -> Heard<'a> {
        Heard { buffer: self, place, at: record.at, speaker: record.speaker, flags: record.flags }
    }

    fn end(&self, place: usize) -> usize {
        self.records.get(place + 1).map_or(self.text.len(), |next| next.start as usize)
    }

    pub fn find(&self, id: &str) -> Option<usize> {
        let id = cut_id(id);
        let mark = mark_of(id);
        let is_it = |record: &Record| {
            usize::from(record.id_len) == id.len() && self.text[record.start as usize..].starts_with(id)
        };
        self.records.iter().rposition(|record| record.id_mark == mark && is_it(record))
    }

    /// Adds at the end. What no longer fits is handed to `dropped`, oldest first.
    pub fn push(&mut self, entry: &Entry<'_>, messages_max: usize, mut dropped: impl FnMut(u16)) {
        self.drop_oldest((self.records.len() + 1).saturating_sub(messages_max), &mut dropped);
        self.make_room(entry.id.len() + entry.text.len());
        if self.records.len() == self.records.capacity() {
            self.records.reserve_exact((self.records.len() / 4).max(4).min(messages_max - self.records.len()));
        }
        let id = cut_id(entry.id);
        let start = self.text.len() as u32;
        self.text.push_str(id);
        self.text.push_str(entry.text);
        self.records.push(record(entry, start));
    }

    /// Adds where its time belongs, which is behind everything said no later. `false` if it is older than all of a full buffer.
    pub fn insert_by_time(&mut self, entry: &Entry<'_>, messages_max: usize, dropped: impl FnMut(u16)) -> bool {
        let place = self.records.partition_point(|record| record.at <= entry.at);
        if place == self.records.len() {
            self.push(entry, messages_max, dropped);
            return true;
        }
        if self.records.len() >= messages_max {
            return false;
        }
        let start = self.records[place].start;
        let stored = [cut_id(entry.id), entry.text].concat();
        self.text.insert_str(start as usize, &stored);
        self.records.insert(place, record(entry, start));
        self.shift_after(place, stored.len() as i64);
        true
    }

    pub fn replace_text(&mut self, place: usize, text: &str, flags: Flags) {
        let record = &self.records[place];
        let words = record.start as usize + usize::from(record.id_len);
        let end = self.end(place);
        self.text.replace_range(words..end, text);
        self.shift_after(place, text.len() as i64 - (end - words) as i64);
        let record = &mut self.records[place];
        (record.chars, record.flags) = (chars_of(text), flags);
    }

    pub fn set_flags(&mut self, place: usize, flags: Flags) {
        self.records[place].flags = flags;
    }

    pub fn remove(&mut self, place: usize) -> u16 {
        let (start, end) = (self.records[place].start as usize, self.end(place));
        self.text.replace_range(start..end, "");
        self.shift_after(place, -((end - start) as i64));
        self.records.remove(place).speaker
    }

    fn shift_after(&mut self, place: usize, by: i64) {
        for record in &mut self.records[place + 1..] {
            record.start = (i64::from(record.start) + by) as u32;
        }
    }

    fn drop_oldest(&mut self, count: usize, dropped: &mut impl FnMut(u16)) {
        for record in self.records.drain(..count) {
            dropped(record.speaker);
        }
    }

    /// Lets go of what is older than its life.
    pub fn expire(&mut self, now: Time, life: Span, mut dropped: impl FnMut(u16)) {
        let old = self.records.iter().take_while(|record| now.since(record.at) >= life).count();
        self.drop_oldest(old, &mut dropped);
        if self.records.is_empty() {
            *self = Buffer::default();
        }
    }

    /// Text is moved together before the new words would make it grow, so that a full buffer keeps its size.
    fn make_room(&mut self, more: usize) {
        let unused = self.records.first().map_or(self.text.len(), |first| first.start as usize);
        if unused >= SLACK_BYTES || (unused > 0 && self.text.len() + more > self.text.capacity()) {
            self.text.replace_range(..unused, "");
            for record in &mut self.records {
                record.start -= unused as u32;
            }
        }
        if self.text.len() + more > self.text.capacity() {
            self.text.reserve_exact((more + 128).next_multiple_of(64));
        }
    }
}

fn record(entry: &Entry<'_>, start: u32) -> Record {
    let id = cut_id(entry.id);
    let (id_len, id_mark) = (id.len() as u16, mark_of(id));
    Record {
        at: entry.at,
        start,
        speaker: entry.speaker,
        id_len,
        chars: chars_of(entry.text),
        flags: entry.flags,
        id_mark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(at: u64, id: &'a str, text: &'a str) -> Entry<'a> {
        Entry { at: Time(at), speaker: 0, flags: Flags::default(), id, text }
    }

    fn texts(buffer: &Buffer) -> Vec<(&str, &str)> {
        buffer.iter().map(|heard| (heard.id(), heard.text())).collect()
    }

    #[test]
    fn the_oldest_make_room_for_the_newest() {
        let mut buffer = Buffer::default();
        let mut dropped = 0;
        for turn in 0..1000 {
            buffer.push(&entry(turn, &format!("m{turn}"), &"草".repeat(turn as usize % 90)), 5, |_| dropped += 1);
        }
        let ids: Vec<&str> = buffer.iter().map(|heard| heard.id()).collect();
        assert_eq!((ids, dropped), (vec!["m995", "m996", "m997", "m998", "m999"], 995));
        assert_eq!(buffer.newest().unwrap().chars(), 9);
        assert!(buffer.text.capacity() < 5 * 300 + 2 * SLACK_BYTES, "{}", buffer.text.capacity());
    }

    #[test]
    fn edits_deletions_and_late_arrivals_leave_the_rest_as_it_was() {
        let mut buffer = Buffer::default();
        for (at, id, text) in [(10, "a", "one"), (20, "b", "two"), (40, "d", "four")] {
            buffer.push(&entry(at, id, text), 10, |_| ());
        }
        assert!(buffer.insert_by_time(&entry(30, "c", "三"), 10, |_| ()));
        let place = buffer.find("b").unwrap();
        buffer.replace_text(place, "ふたつめ", Flags::NAMED);
        assert_eq!(texts(&buffer), [("a", "one"), ("b", "ふたつめ"), ("c", "三"), ("d", "four")]);
        buffer.remove(0);
        assert_eq!(texts(&buffer), [("b", "ふたつめ"), ("c", "三"), ("d", "four")]);
        assert_eq!(buffer.iter().next().unwrap().chars(), 4);
        assert_eq!(buffer.find("a"), None);
        assert!(!buffer.insert_by_time(&entry(1, "z", "old"), 3, |_| ()));
    }

    #[test]
    fn a_message_lives_strictly_shorter_than_its_life() {
        let mut buffer = Buffer::default();
        buffer.push(&entry(0, "a", "x"), 10, |_| ());
        buffer.expire(Time(999), Span(1000), |_| ());
        assert_eq!(buffer.len(), 1);
        buffer.expire(Time(1000), Span(1000), |_| ());
        assert!(buffer.is_empty());
    }
}
