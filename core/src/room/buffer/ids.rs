//! What the ids of a buffer begin with is kept once, and is written into a snapshot with each of them.

use serde::{Deserialize, Serialize};

use super::{Buffer, BufferEntry, MORE_BYTES};
use crate::types::{ConversationId, Flags, Time, or_zero, shared_start};

impl Buffer {
    /// Those that are left may have more in common than those that went: all of them, and the one that is to come.
    pub(super) fn lengthen_id_prefix(&mut self, id: &str, words: usize) {
        let Some(mut shared) = id.strip_prefix(&*self.id_prefix) else { return };
        for index in 0..self.records.len() {
            if shared.is_empty() {
                return;
            }
            shared = shared_start(shared, self.own_id(index));
        }
        if !shared.is_empty() && !self.records.is_empty() {
            self.set_id_prefix(&id[..self.id_prefix.len() + shared.len()], words);
        }
    }

    /// The prefix is one of this id too.
    pub(super) fn shorten_id_prefix(&mut self, id: &str, words: usize) {
        if self.records.is_empty() {
            self.text.clear();
            self.id_prefix = id.into();
        } else if !id.starts_with(&*self.id_prefix) {
            self.set_id_prefix(shared_start(id, &self.id_prefix), id.len() + words);
        }
    }

    /// All ids begin with this, of which at least one of the new and the old prefix begins with the other. There will be room
    /// for `more`.
    fn set_id_prefix(&mut self, prefix: &str, more: usize) {
        let back = self.id_prefix.get(prefix.len()..).unwrap_or("").to_owned();
        let away = prefix.len().saturating_sub(self.id_prefix.len());
        let used = self.text.len() - self.records.first().map_or(self.text.len(), |first| first.start as usize);
        let all = used + self.records.len() * back.len() - self.records.len() * away;
        let mut text = String::with_capacity(all + more + MORE_BYTES);
        for index in 0..self.records.len() {
            let (start, end) = (self.records[index].start as usize, self.end(index));
            let record = &mut self.records[index];
            let id_len = usize::from(record.id_len) + back.len() - away;
            (record.start, record.id_len) = (text.len() as u32, id_len as u8);
            text.push_str(&back);
            text.push_str(&self.text[start + away..end]);
        }
        (self.id_prefix, self.text) = (prefix.into(), text);
    }
}

/// As it is written into a snapshot: every id is whole.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredBuffer {
    records: Vec<StoredRecord>,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct StoredRecord {
    at: Time,
    start: u32,
    speaker: u16,
    id_len: u16,
    chars: u16,
    flags: Flags,
    id_mark: u8,
    #[serde(default, rename = "strand", with = "or_zero")]
    conversation: Option<ConversationId>,
}

impl From<Buffer> for StoredBuffer {
    fn from(buffer: Buffer) -> StoredBuffer {
        let (mut records, mut text) = (Vec::with_capacity(buffer.len()), String::new());
        for heard in buffer.iter() {
            let (id, start) = (heard.id(), text.len() as u32);
            text.push_str(&id);
            text.push_str(heard.text());
            records.push(StoredRecord {
                at: heard.at,
                start,
                speaker: heard.speaker,
                id_len: id.len() as u16,
                chars: heard.chars().min(u16::MAX.into()) as u16,
                flags: heard.flags,
                id_mark: buffer.records[heard.index()].id_mark,
                conversation: heard.conversation,
            });
        }
        StoredBuffer { records, text }
    }
}

impl From<StoredBuffer> for Buffer {
    fn from(StoredBuffer { records, text }: StoredBuffer) -> Buffer {
        let mut buffer = Buffer::default();
        let ends = records.iter().skip(1).map(|next| next.start as usize).chain([text.len()]);
        for (record, end) in records.iter().zip(ends) {
            let words = record.start as usize + usize::from(record.id_len);
            let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
            let (id, text) = (part(record.start as usize, words), part(words, end));
            let StoredRecord { at, speaker, flags, conversation, .. } = *record;
            buffer.push(&BufferEntry { at, speaker, flags, conversation, id, text }, records.len(), |_| ());
        }
        buffer
    }
}
