//! The lines that a place remembers: records of fixed size, and beside them ids and words end to end.
//!
//! A record holds how long its id and its words are, and not where they begin: what is before it says that. So nothing has to
//! be moved but the lists themselves when old lines go or a line is changed.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::line::{LINES_MAX, LINES_OVER, TalkLine};
use super::reading::Reading;
use super::stored::StoredLine;
use super::tracker::grow_exactly;

#[derive(Clone, Debug, Default)]
pub(crate) struct TalkLines {
    /// Oldest first. Some at the beginning may be too old already: see `recent`.
    list: Vec<TalkLine>,
    ids: String,
    /// Short hashes, none of them 0.
    words: Vec<u16>,
}

/// Space that is made for ids and words at once.
const MORE_ID_BYTES: usize = 64;
const MORE_WORDS: usize = 16;

impl TalkLines {
    pub(super) fn all(&self) -> &[TalkLine] {
        &self.list
    }

    /// To change anything but ids and words.
    pub(super) fn all_mut(&mut self) -> &mut [TalkLine] {
        &mut self.list
    }

    /// The messages that count, oldest first.
    #[inline]
    pub(super) fn recent(&self) -> &[TalkLine] {
        &self.list[self.list.len().saturating_sub(LINES_MAX)..]
    }

    /// The same, each with its words.
    #[inline]
    pub(super) fn recent_with_words(&self) -> impl Iterator<Item = (&TalkLine, &[u16])> {
        let recent = self.recent();
        let mut rest = &self.words[words_of(&self.list[..self.list.len() - recent.len()])..];
        recent.iter().map(move |line| {
            let (words, later) = rest.split_at(line.words_len.into());
            rest = later;
            (line, words)
        })
    }

    pub(super) fn id(&self, index: usize) -> &str {
        let start: usize = self.list[..index].iter().map(|line| line.id_len as usize).sum();
        &self.ids[start..start + self.list[index].id_len as usize]
    }

    /// The indexes of the lines with this id, oldest first.
    pub(super) fn with_id(&self, id: &str) -> impl Iterator<Item = usize> {
        let mut start = 0;
        let is_it = move |line: &TalkLine| {
            let end = start + line.id_len as usize;
            let own = &self.ids[start..end];
            start = end;
            own == id
        };
        self.list.iter().map(is_it).enumerate().filter(|(_, is_it)| *is_it).map(|(index, _)| index)
    }

    /// Adds one more; the oldest make room for it.
    pub(super) fn push(&mut self, line: TalkLine, id: &str, words: &[u16]) {
        if self.list.len() == LINES_MAX + LINES_OVER {
            self.drop_oldest(LINES_OVER + 1);
        }
        grow_exactly(&mut self.list, LINES_MAX + LINES_OVER);
        self.list.push(TalkLine { id_len: id.len() as u32, words_len: words.len() as u8, ..line });
        if self.ids.len() + id.len() > self.ids.capacity() {
            self.ids.reserve_exact(id.len().max(MORE_ID_BYTES));
        }
        self.ids.push_str(id);
        if self.words.len() + words.len() > self.words.capacity() {
            self.words.reserve_exact(words.len().max(MORE_WORDS));
        }
        self.words.extend_from_slice(words);
    }

    /// The line says something else now.
    pub(super) fn set_reading(&mut self, index: usize, reading: Reading, words: &[u16]) {
        let start = words_of(&self.list[..index]);
        let line = &mut self.list[index];
        self.words.splice(start..start + usize::from(line.words_len), words.iter().copied());
        (line.reading, line.words_len) = (reading, words.len() as u8);
    }

    /// Nothing that was said remains.
    pub(super) fn blank(&mut self, index: usize) {
        self.set_reading(index, Reading::default(), &[]);
        self.list[index].gone = true;
    }

    fn drop_oldest(&mut self, count: usize) {
        let (ids, words) = (&self.list[..count], words_of(&self.list[..count]));
        let ids: usize = ids.iter().map(|line| line.id_len as usize).sum();
        self.ids.drain(..ids);
        self.words.drain(..words);
        self.list.drain(..count);
    }
}

/// How many words these lines have.
fn words_of(lines: &[TalkLine]) -> usize {
    lines.iter().map(|line| usize::from(line.words_len)).sum()
}

/// Written as a list of lines, each with its id and its words.
impl Serialize for TalkLines {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut start = 0;
        serializer.collect_seq(self.list.iter().enumerate().map(|(index, line)| {
            let words = &self.words[start..start + usize::from(line.words_len)];
            start += words.len();
            StoredLine::of(line, self.id(index), words)
        }))
    }
}

impl<'de> Deserialize<'de> for TalkLines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TalkLines, D::Error> {
        let mut lines = TalkLines::default();
        for stored in Vec::<StoredLine<'_>>::deserialize(deserializer)? {
            let (line, id, words) = stored.take();
            lines.push(line, &id, &words);
        }
        Ok(lines)
    }
}
