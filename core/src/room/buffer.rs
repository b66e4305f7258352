//! What was said in a place lately: small records in a ring, over a ring of bytes.
//!
//! A hundred thousand rooms fit into memory because a message costs its text, its id and one record; and a message in a
//! cold room is cheap because nothing is moved and little is touched.

use std::collections::VecDeque;

use memchr::memrchr_iter;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::flags::Flags;
use crate::types::{Span, Time, Voice, stable_hash};

#[derive(Clone, Debug, Default)]
pub struct Buffer {
    /// Oldest first.
    records: VecDeque<Record>,
    /// A little of each id's hash, in the order of the records: an id is looked for here before anything else is read.
    marks: VecDeque<u8>,
    /// Id and words of each record, one record in one piece. The newest may lie before the oldest.
    bytes: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    at: Time,
    /// Where the id begins; the words follow it.
    start: u32,
    /// Of id and words together.
    len: u32,
    speaker: u16,
    id_len: u16,
    /// Length of the words in characters, or `CHARS_MANY`.
    chars: u16,
    flags: Flags,
}

const CHARS_MANY: u16 = u16::MAX;
const ID_BYTES_MAX: usize = 1000;
/// A buffer this large is made smaller when most of it stands empty: somebody once said something very long.
const ROOMY_BYTES: usize = 64 * 1024;

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
        self.buffer.read(record.start, record.id_len.into())
    }

    pub fn text(&self) -> &'a str {
        let record = &self.buffer.records[self.place];
        self.buffer.read(record.start + u32::from(record.id_len), record.len - u32::from(record.id_len))
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

    fn entry(&self) -> Entry<'a> {
        Entry { at: self.at, speaker: self.speaker, flags: self.flags, id: self.id(), text: self.text() }
    }
}

/// What can be told of a message without its words.
#[derive(Clone, Copy, Debug)]
pub struct Glance {
    pub at: Time,
    /// Length of the words in characters.
    pub chars: u32,
    pub speaker: u16,
    pub flags: Flags,
}

/// What is put into the buffer.
#[derive(Clone, Copy)]
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
        self.records.back().map(|record| self.heard(self.records.len() - 1, record))
    }

    /// A time no earlier than that of the oldest: messages may arrive a little out of order.
    pub fn latest(&self) -> Option<Time> {
        self.records.front().zip(self.records.back()).map(|(oldest, newest)| oldest.at.max(newest.at))
    }

    /// Looks at the newest `window` messages that are young, newest first. A plain loop: it runs for every message.
    fn look_back(&self, window: usize, young: impl Fn(Time) -> bool, mut see: impl FnMut(usize, &Record)) {
        let mut left = window;
        let mut place = self.records.len();
        let (older, newer) = self.records.as_slices();
        for record in newer.iter().rev().chain(older.iter().rev()) {
            place -= 1;
            if left == 0 {
                break;
            }
            if young(record.at) {
                left -= 1;
                see(place, record);
            }
        }
    }

    pub fn newest_of(&self, window: usize, young: impl Fn(Time) -> bool) -> Vec<Heard<'_>> {
        let mut found = Vec::with_capacity(window.min(self.records.len()));
        self.look_back(window, young, |place, record| found.push(self.heard(place, record)));
        found
    }

    /// A glance at the messages of people among them; others take up places and are skipped.
    pub fn glance_at_people(&self, window: usize, young: impl Fn(Time) -> bool, glances: &mut Vec<Glance>) {
        glances.clear();
        self.look_back(window, young, |place, record| {
            if record.flags.of_person() {
                let chars = if record.chars == CHARS_MANY {
                    self.heard(place, record).chars() as u32
                } else {
                    record.chars.into()
                };
                glances.push(Glance { at: record.at, chars, speaker: record.speaker, flags: record.flags });
            }
        });
    }

    fn heard<'a>(&'a self, place: usize, record: &Record) -> Heard<'a> {
        Heard { buffer: self, place, at: record.at, speaker: record.speaker, flags: record.flags }
    }

    fn read(&self, start: u32, len: u32) -> &str {
        let bytes = &self.bytes[start as usize..(start + len) as usize];
        std::str::from_utf8(bytes).expect("only whole texts are stored")
    }

    /// The place of a message, if it is remembered.
    pub fn find(&self, id: &str) -> Option<usize> {
        let id = cut_id(id);
        let mark = mark_of(id);
        let is_it = |place: &usize| {
            let record = &self.records[*place];
            self.bytes[record.start as usize..][..record.id_len.into()] == *id.as_bytes()
        };
        let (older, newer) = self.marks.as_slices();
        let mut newest_first =
            memrchr_iter(mark, newer).map(|place| older.len() + place).chain(memrchr_iter(mark, older));
        newest_first.find(is_it)
    }

    /// Adds at the end. What no longer fits is handed to `dropped`, oldest first.
    pub fn push(&mut self, entry: &Entry<'_>, messages_max: usize, mut dropped: impl FnMut(u16)) {
        self.drop_oldest((self.records.len() + 1).saturating_sub(messages_max), &mut dropped);
        let id = cut_id(entry.id);
        let len = id.len() + entry.text.len();
        let start = self.make_room(len);
        let (id_end, end) = (start + id.len(), start + len);
        self.bytes[start..id_end].copy_from_slice(id.as_bytes());
        self.bytes[id_end..end].copy_from_slice(entry.text.as_bytes());
        if self.records.len() == self.records.capacity() {
            let more = (self.records.len() / 4).max(4).min(messages_max - self.records.len());
            self.records.reserve_exact(more);
            self.marks.reserve_exact(more);
        }
        self.marks.push_back(mark_of(id));
        self.records.push_back(Record {
            at: entry.at,
            start: start as u32,
            len: len as u32,
            speaker: entry.speaker,
            id_len: id.len() as u16,
            chars: chars_of(entry.text),
            flags: entry.flags,
        });
    }

    /// Where the next piece of this length goes: behind the newest, or at the beginning again once the oldest are gone.
    fn make_room(&mut self, len: usize) -> usize {
        if self.bytes.len() > ROOMY_BYTES && self.live_bytes() < self.bytes.len() / 4 {
            return self.lay_out_anew(len);
        }
        let (Some(oldest), Some(newest)) = (self.records.front(), self.records.back()) else {
            self.bytes.clear();
            self.bytes.resize(len, 0);
            return 0;
        };
        let (head, tail) = (oldest.start as usize, (newest.start + newest.len) as usize);
        let wrapped = newest.start < oldest.start;
        let end = if wrapped { head } else { self.bytes.len() };
        if tail + len <= end {
            tail
        } else if !wrapped && len <= head {
            0
        } else {
            self.lay_out_anew(len)
        }
    }

    fn live_bytes(&self) -> usize {
        self.records.iter().map(|record| record.len as usize).sum()
    }

    /// Everything from the beginning in order, and room for one piece more, and a little.
    fn lay_out_anew(&mut self, len: usize) -> usize {
        let live = self.live_bytes();
        let mut bytes = Vec::with_capacity(live + len + live / 16);
        for record in &mut self.records {
            let start = record.start as usize;
            record.start = bytes.len() as u32;
            bytes.extend_from_slice(&self.bytes[start..start + record.len as usize]);
        }
        bytes.resize(bytes.capacity(), 0);
        self.bytes = bytes;
        live
    }

    /// Adds where its time belongs, behind everything said no later. `false` if it is older than all of a full buffer.
    pub fn insert_by_time(&mut self, entry: &Entry<'_>, messages_max: usize, dropped: impl FnMut(u16)) -> bool {
        let place = self.records.partition_point(|record| record.at <= entry.at);
        if place == self.records.len() {
            self.push(entry, messages_max, dropped);
            return true;
        }
        if self.records.len() >= messages_max {
            return false;
        }
        let old = std::mem::take(self);
        for heard in old.iter() {
            if heard.place == place {
                self.add(entry);
            }
            self.add(&heard.entry());
        }
        true
    }

    pub fn replace_text(&mut self, place: usize, text: &str, flags: Flags) {
        let old = std::mem::take(self);
        for heard in old.iter() {
            let entry = heard.entry();
            self.add(&if heard.place == place { Entry { text, flags, ..entry } } else { entry });
        }
    }

    pub fn remove(&mut self, place: usize) -> u16 {
        let old = std::mem::take(self);
        old.iter().filter(|heard| heard.place != place).for_each(|heard| self.add(&heard.entry()));
        old.records[place].speaker
    }

    /// Edits, deletions and late arrivals are rare: for them the buffer is written again.
    fn add(&mut self, entry: &Entry<'_>) {
        self.push(entry, usize::MAX, |_| ());
    }

    pub fn set_flags(&mut self, place: usize, flags: Flags) {
        self.records[place].flags = flags;
    }

    fn drop_oldest(&mut self, count: usize, dropped: &mut impl FnMut(u16)) {
        self.marks.drain(..count);
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
}

/// One message as it is written down.
#[derive(Serialize, Deserialize)]
struct Saved {
    at: Time,
    speaker: u16,
    flags: Flags,
    id: Box<str>,
    text: Box<str>,
}

impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let saved = |heard: Heard<'_>| Saved {
            at: heard.at,
            speaker: heard.speaker,
            flags: heard.flags,
            id: heard.id().into(),
            text: heard.text().into(),
        };
        serializer.collect_seq(self.iter().map(saved))
    }
}

impl<'de> Deserialize<'de> for Buffer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Buffer, D::Error> {
        let mut buffer = Buffer::default();
        for Saved { at, speaker, flags, id, text } in Vec::<Saved>::deserialize(deserializer)? {
            buffer.add(&Entry { at, speaker, flags, id: &id, text: &text });
        }
        Ok(buffer)
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
        assert!(buffer.bytes.capacity() < 5 * 300, "{}", buffer.bytes.capacity());
    }

    #[test]
    fn something_very_long_does_not_cost_for_ever() {
        let mut buffer = Buffer::default();
        buffer.push(&entry(0, "long", &"x".repeat(1_000_000)), 5, |_| ());
        for turn in 1..20 {
            buffer.push(&entry(turn, &format!("m{turn}"), "short"), 5, |_| ());
        }
        assert!(buffer.bytes.capacity() < 1000, "{}", buffer.bytes.capacity());
        assert_eq!(buffer.newest().unwrap().text(), "short");
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
