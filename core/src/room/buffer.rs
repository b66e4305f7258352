//! The latest messages of a place: small records over one run of text.
//!
//! A hundred thousand rooms fit into memory because a message costs its text, the end of its id and one record of fixed size,
//! without an allocation of its own. Texts are end to end in one string, oldest first; what older records have left at its
//! beginning is removed now and then by moving the rest. What all ids begin with is kept once. Records hold offsets into the
//! text, and one byte of the hash of the id, so that a lookup by id rarely reads it. Records are moved along when the buffer is
//! full: there are few, and a slice is easier to read through than a ring.

mod ids;

use std::borrow::Cow;

use ids::StoredBuffer;
use serde::{Deserialize, Serialize};

use crate::types::{ClockShift, ConversationId, Flags, ShortTime, Span, Time, Voice, prefetch, stable_hash};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "StoredBuffer", into = "StoredBuffer")]
pub(crate) struct Buffer {
    /// Oldest first. A full buffer moves its few records along for each new one: cheaper than a ring to look through.
    records: Vec<Record>,
    /// What all ids begin with: platforms count their messages or date them, so that ids of one place differ near their end.
    id_prefix: Box<str>,
    /// Of each record the rest of its id, and its words, end to end, behind a stretch that older records have left.
    text: String,
}

/// Twenty bytes.
#[derive(Clone, Copy, Debug)]
struct Record {
    at: ShortTime,
    /// Where the rest of the id begins in the text; the words follow it and end where the next record begins.
    start: u32,
    speaker: u16,
    id_len: u8,
    /// Length in characters, or `CHARS_MANY`.
    chars: u8,
    flags: Flags,
    /// A little of the id's hash, to find it without reading the text.
    id_mark: u8,
    /// None where conversations are not told apart.
    conversation: Option<ConversationId>,
}

const CHARS_MANY: u8 = u8::MAX;
/// How long an id is as far as it is kept: much longer than those of any platform.
const ID_BYTES_MAX: usize = u8::MAX as usize;
/// How much of the text may be left over from dropped records before it is moved together.
const SLACK_BYTES: usize = 384;
/// Space that is made at once beyond what is needed.
const MORE_BYTES: usize = 16;
/// A buffer this large is made smaller when most of it is empty.
const ROOMY_BYTES: usize = 64 * 1024;

impl Record {
    #[inline]
    fn at(&self) -> Time {
        self.at.into()
    }
}

/// One remembered message. Its words are looked up when somebody asks for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeardMessage<'a> {
    buffer: &'a Buffer,
    index: usize,
    pub at: Time,
    pub speaker: u16,
    pub flags: Flags,
    /// None where conversations are not told apart.
    pub conversation: Option<ConversationId>,
}

impl<'a> HeardMessage<'a> {
    pub(crate) fn id(&self) -> Cow<'a, str> {
        match &*self.buffer.id_prefix {
            "" => Cow::Borrowed(self.buffer.own_id(self.index)),
            prefix => Cow::Owned([prefix, self.buffer.own_id(self.index)].concat()),
        }
    }

    pub(crate) fn has_id(&self, id: &str) -> bool {
        cut_id(id).strip_prefix(&*self.buffer.id_prefix) == Some(self.buffer.own_id(self.index))
    }

    pub(crate) fn text(&self) -> &'a str {
        let record = &self.buffer.records[self.index];
        &self.buffer.text[record.start as usize + usize::from(record.id_len)..self.buffer.end(self.index)]
    }

    /// Where it is in the buffer: what was heard later has a higher one.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    pub(crate) fn is_person(&self) -> bool {
        self.flags.of_person()
    }

    pub(crate) fn voice(&self) -> Voice {
        if self.flags.has(Flags::OWN) {
            Voice::Me
        } else if self.flags.has(Flags::BOT) {
            Voice::Bot
        } else {
            Voice::Person
        }
    }

    /// Length of the words in characters.
    pub(crate) fn chars(&self) -> usize {
        match self.buffer.records[self.index].chars {
            CHARS_MANY => self.text().chars().count(),
            chars => chars.into(),
        }
    }
}

/// What is known of a message without its words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageSummary {
    pub at: Time,
    /// Length of the words in characters.
    pub chars: u32,
    pub speaker: u16,
    pub flags: Flags,
}

/// What is put into the buffer.
pub(crate) struct BufferEntry<'a> {
    pub at: Time,
    pub speaker: u16,
    pub flags: Flags,
    pub conversation: Option<ConversationId>,
    pub id: &'a str,
    pub text: &'a str,
}

fn cut_id(id: &str) -> &str {
    &id[..id.floor_char_boundary(ID_BYTES_MAX)]
}

fn mark_of(id: &str) -> u8 {
    stable_hash(0, id) as u8
}

fn chars_of(text: &str) -> u8 {
    text.chars().count().min(CHARS_MANY.into()) as u8
}

impl Buffer {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// What the next message needs: all records, and the end of the text.
    pub(super) fn prefetch(&self) {
        prefetch(&self.records, |record| record.id_mark);
        prefetch(self.text.as_bytes().last_chunk::<64>().map_or(&[], |end| end), |byte| *byte);
        prefetch(self.id_prefix.as_bytes(), |byte| *byte);
    }

    /// Oldest first.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = HeardMessage<'_>> + ExactSizeIterator {
        self.records.iter().enumerate().map(|(index, record)| self.to_heard(index, record))
    }

    pub(crate) fn newest(&self) -> Option<HeardMessage<'_>> {
        self.records.len().checked_sub(1).map(|last| self.get(last))
    }

    /// A time no earlier than that of the oldest: messages may arrive a little out of order.
    pub(crate) fn latest(&self) -> Option<Time> {
        self.records.first().zip(self.records.last()).map(|(oldest, newest)| oldest.at().max(newest.at()))
    }

    /// Looks at the newest `window` messages that are young, newest first. A plain loop: it runs for every message.
    fn look_back(&self, window: usize, young: impl Fn(Time) -> bool, mut see: impl FnMut(usize, &Record)) {
        let mut left = window;
        for (index, record) in self.records.iter().enumerate().rev() {
            if left == 0 {
                break;
            }
            if young(record.at()) {
                left -= 1;
                see(index, record);
            }
        }
    }

    pub(crate) fn newest_of(&self, window: usize, young: impl Fn(Time) -> bool) -> Vec<HeardMessage<'_>> {
        let mut found = Vec::with_capacity(window.min(self.records.len()));
        self.look_back(window, young, |index, record| found.push(self.to_heard(index, record)));
        found
    }

    /// A glance at the messages of people among them; others take up places and are skipped.
    pub(crate) fn summarize_people(
        &self,
        window: usize,
        young: impl Fn(Time) -> bool,
        summaries: &mut Vec<MessageSummary>,
    ) {
        summaries.clear();
        self.look_back(window, young, |index, record| {
            if record.flags.of_person() {
                let chars = if record.chars == CHARS_MANY {
                    self.to_heard(index, record).chars() as u32
                } else {
                    record.chars.into()
                };
                summaries.push(MessageSummary { at: record.at(), chars, speaker: record.speaker, flags: record.flags });
            }
        });
    }

    fn get(&self, index: usize) -> HeardMessage<'_> {
        self.to_heard(index, &self.records[index])
    }

    fn to_heard<'a>(&'a self, index: usize, record: &Record) -> HeardMessage<'a> {
        let Record { speaker, flags, conversation, .. } = *record;
        HeardMessage { buffer: self, index, at: record.at(), speaker, flags, conversation }
    }

    /// What follows the prefix in its id.
    fn own_id(&self, index: usize) -> &str {
        let record = &self.records[index];
        &self.text[record.start as usize..][..usize::from(record.id_len)]
    }

    fn end(&self, index: usize) -> usize {
        self.records.get(index + 1).map_or(self.text.len(), |next| next.start as usize)
    }

    /// Notes anew what each text holds.
    pub(crate) fn notice_again(&mut self, notice: impl Fn(&str) -> Flags) {
        for index in 0..self.records.len() {
            let flags = notice(self.get(index).text());
            let record = &mut self.records[index];
            record.flags = record.flags.voice_only() | flags;
        }
    }

    pub(crate) fn get_by_id(&self, id: &str) -> Option<HeardMessage<'_>> {
        self.find(id).map(|index| self.get(index))
    }

    pub(crate) fn find(&self, id: &str) -> Option<usize> {
        let id = cut_id(id);
        let mark = mark_of(id);
        let is_it = |index: usize| id.strip_prefix(&*self.id_prefix) == Some(self.own_id(index));
        let mut records = self.records.iter().enumerate().rev();
        records.find(|(index, record)| record.id_mark == mark && is_it(*index)).map(|(index, _)| index)
    }

    /// Adds at the end. What no longer fits is handed to `dropped`, oldest first.
    pub(crate) fn push(&mut self, entry: &BufferEntry<'_>, messages_max: usize, mut dropped: impl FnMut(u16)) {
        self.drop_oldest((self.records.len() + 1).saturating_sub(messages_max), &mut dropped);
        let id = cut_id(entry.id);
        self.make_room(id, entry.text.len());
        if self.records.len() == self.records.capacity() {
            self.records.reserve_exact((self.records.len() / 4).max(4).min(messages_max - self.records.len()));
        }
        let (start, own_id) = (self.text.len() as u32, &id[self.id_prefix.len()..]);
        self.text.push_str(own_id);
        self.text.push_str(entry.text);
        self.records.push(record(entry, start, own_id.len()));
    }

    /// Adds where its time belongs, which is behind everything said no later. `false` if it is older than all of a full buffer.
    pub(crate) fn insert_by_time(
        &mut self,
        entry: &BufferEntry<'_>,
        messages_max: usize,
        dropped: impl FnMut(u16),
    ) -> bool {
        let index = self.records.partition_point(|record| record.at() <= entry.at);
        if index == self.records.len() {
            self.push(entry, messages_max, dropped);
            return true;
        }
        if self.records.len() >= messages_max {
            return false;
        }
        let id = cut_id(entry.id);
        self.shorten_id_prefix(id, entry.text.len());
        let (start, own_id) = (self.records[index].start, &id[self.id_prefix.len()..]);
        let stored = [own_id, entry.text].concat();
        self.text.insert_str(start as usize, &stored);
        self.records.insert(index, record(entry, start, own_id.len()));
        self.shift_after(index, stored.len() as i64);
        true
    }

    pub(crate) fn replace_text(&mut self, index: usize, text: &str, flags: Flags) {
        let record = &self.records[index];
        let words = record.start as usize + usize::from(record.id_len);
        let end = self.end(index);
        self.text.replace_range(words..end, text);
        self.shift_after(index, text.len() as i64 - (end - words) as i64);
        let record = &mut self.records[index];
        (record.chars, record.flags) = (chars_of(text), flags);
    }

    pub(crate) fn remove(&mut self, index: usize) -> u16 {
        let (start, end) = (self.records[index].start as usize, self.end(index));
        self.text.replace_range(start..end, "");
        self.shift_after(index, -((end - start) as i64));
        self.records.remove(index).speaker
    }

    /// Leaves nothing behind of what was dropped.
    pub(crate) fn tighten(&mut self) {
        let unused = self.records.first().map_or(self.text.len(), |first| first.start as usize);
        self.text.replace_range(..unused, "");
        if self.records.is_empty() {
            self.id_prefix = Box::default();
        }
        self.records.iter_mut().for_each(|record| record.start -= unused as u32);
    }

    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        self.records.iter_mut().for_each(|record| record.at = record.at().shifted(by).into());
    }

    fn shift_after(&mut self, index: usize, by: i64) {
        for record in &mut self.records[index + 1..] {
            record.start = (i64::from(record.start) + by) as u32;
        }
    }

    fn drop_oldest(&mut self, count: usize, dropped: &mut impl FnMut(u16)) {
        for record in self.records.drain(..count) {
            dropped(record.speaker);
        }
    }

    /// Lets go of what is older than its life.
    pub(crate) fn expire(&mut self, now: Time, life: Span, mut dropped: impl FnMut(u16)) {
        let old = self.records.iter().take_while(|record| now.since(record.at()) >= life).count();
        self.drop_oldest(old, &mut dropped);
        if self.records.is_empty() {
            *self = Buffer::default();
        }
    }

    /// For one more, with this id and so many bytes of words. Text is moved together before the new words would make it grow,
    /// so that a full buffer keeps its size; and a text that once held something very long is made smaller again.
    fn make_room(&mut self, id: &str, words: usize) {
        let unused = self.records.first().map_or(self.text.len(), |first| first.start as usize);
        let more = |buffer: &Buffer| id.len().saturating_sub(buffer.id_prefix.len()) + words;
        if unused >= SLACK_BYTES || (unused > 0 && self.text.len() + more(self) > self.text.capacity()) {
            self.tighten();
            self.lengthen_id_prefix(id, words);
        }
        self.shorten_id_prefix(id, words);
        let more = more(self);
        if self.text.capacity() > ROOMY_BYTES && self.text.len() < self.text.capacity() / 4 {
            self.text.shrink_to(self.text.len() + more + SLACK_BYTES);
        }
        if self.text.len() + more > self.text.capacity() {
            self.text.reserve_exact(more + MORE_BYTES);
        }
    }
}

fn record(entry: &BufferEntry<'_>, start: u32, id_len: usize) -> Record {
    let (id_len, id_mark) = (id_len as u8, mark_of(cut_id(entry.id)));
    Record {
        at: entry.at.into(),
        start,
        speaker: entry.speaker,
        id_len,
        chars: chars_of(entry.text),
        flags: entry.flags,
        id_mark,
        conversation: entry.conversation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(at: u64, id: &'a str, text: &'a str) -> BufferEntry<'a> {
        BufferEntry { at: Time(at), speaker: 0, flags: Flags::default(), conversation: None, id, text }
    }

    fn texts(buffer: &Buffer) -> Vec<(String, &str)> {
        buffer.iter().map(|heard| (heard.id().into_owned(), heard.text())).collect()
    }

    #[test]
    fn the_oldest_make_room_for_the_newest() {
        let mut buffer = Buffer::default();
        let mut dropped = 0;
        for turn in 0..1000 {
            buffer.push(&entry(turn, &format!("m{turn}"), &"草".repeat(turn as usize % 90)), 5, |_| dropped += 1);
        }
        let ids: Vec<_> = buffer.iter().map(|heard| heard.id()).collect();
        assert_eq!((ids.join(" ").as_str(), dropped), ("m995 m996 m997 m998 m999", 995));
        assert_eq!(buffer.newest().unwrap().chars(), 9);
        assert!(buffer.text.capacity() < 5 * 300 + 2 * SLACK_BYTES, "{}", buffer.text.capacity());
    }

    #[test]
    fn something_very_long_does_not_cost_for_ever() {
        let mut buffer = Buffer::default();
        buffer.push(&entry(0, "long", &"x".repeat(1_000_000)), 5, |_| ());
        for turn in 1..20 {
            buffer.push(&entry(turn, &format!("m{turn}"), "short"), 5, |_| ());
        }
        assert!(buffer.text.capacity() < 2000, "{}", buffer.text.capacity());
        assert_eq!(buffer.newest().unwrap().text(), "short");
    }

    #[test]
    fn edits_deletions_and_late_arrivals_leave_the_rest_as_it_was() {
        let mut buffer = Buffer::default();
        for (at, id, text) in [(10, "a", "one"), (20, "b", "two"), (40, "d", "four")] {
            buffer.push(&entry(at, id, text), 10, |_| ());
        }
        assert!(buffer.insert_by_time(&entry(30, "c", "三"), 10, |_| ()));
        let index = buffer.find("b").unwrap();
        buffer.replace_text(index, "ふたつめ", Flags::NAMED);
        let expected =
            [("a", "one"), ("b", "ふたつめ"), ("c", "三"), ("d", "four")].map(|(id, text)| (id.to_owned(), text));
        assert_eq!(texts(&buffer), expected);
        buffer.remove(0);
        assert_eq!(texts(&buffer), expected[1..]);
        assert_eq!(buffer.iter().next().unwrap().chars(), 4);
        assert_eq!(buffer.find("a"), None);
        assert!(!buffer.insert_by_time(&entry(1, "z", "old"), 3, |_| ()));
    }

    #[test]
    fn what_ids_have_in_common_is_kept_once() {
        let mut buffer = Buffer::default();
        let ids: Vec<String> = (1000..1300).map(|number| format!("a long name of a room:{number}")).collect();
        for (at, id) in ids
            .iter()
            .take(100)
            .map(String::as_str)
            .chain(["other"])
            .chain(ids[100..].iter().map(String::as_str))
            .enumerate()
        {
            buffer.push(&entry(at as u64, id, "text"), 50, |_| ());
            assert!(buffer.newest().unwrap().has_id(id) && buffer.find(id) == Some(buffer.len() - 1), "{id}");
        }
        assert_eq!(&*buffer.id_prefix, "a long name of a room:12", "the other one is gone");
        assert!(buffer.insert_by_time(&entry(280, "é", "late"), 51, |_| ()) && buffer.id_prefix.is_empty());
        let written = serde_json::to_string(&buffer).unwrap();
        let read: Buffer = serde_json::from_str(&written).unwrap();
        assert_eq!((texts(&read), serde_json::to_string(&read).unwrap()), (texts(&buffer), written));
        buffer.remove(buffer.find("é").unwrap());
        let again: Buffer = serde_json::from_str(&serde_json::to_string(&buffer).unwrap()).unwrap();
        assert_eq!((texts(&again), &*again.id_prefix), (texts(&buffer), "a long name of a room:12"));
    }

    #[test]
    fn a_message_lives_strictly_shorter_than_its_life() {
        let mut buffer = Buffer::default();
        buffer.push(&entry(0, "a", "x"), 10, |_| ());
        buffer.expire(Time(999), Span(1000), |_| ());
        assert_eq!(buffer.len(), 1);
        buffer.expire(Time(1000), Span(1000), |_| ());
        assert_eq!(buffer.len(), 0);
    }
}
