//! The lines that a place remembers: records of fixed size, and beside them ids and words end to end.
//!
//! A record holds how long its id and its words are, and not where they begin: what is before it says that. So nothing has to
//! be moved but the lists themselves when old lines go or a line is changed.

use super::line::{LINES_MAX, LINES_OVER, TalkLine};
use super::reading::Reading;
use super::stored::StoredLine;
use super::tracker::grow_exactly;
use crate::types::{prefetch, shared_start};

#[derive(Clone, Debug, Default)]
pub(crate) struct TalkLines {
    /// Oldest first. Some at the beginning may be too old already: see `recent`.
    list: Vec<TalkLine>,
    /// What the ids of all lines begin with, and what follows in each: platforms count their messages or date them, so that ids
    /// of one place differ near their end.
    ids: String,
    id_prefix_len: u16,
    /// Short hashes, none of them 0.
    words: Vec<u16>,
}

/// Space that is made for ids and words at once.
const MORE_ID_BYTES: usize = 16;
const MORE_WORDS: usize = 8;

impl TalkLines {
    pub(super) fn prefetch(&self) {
        prefetch(&self.list, |line| line.author);
        prefetch(&self.words, |word| *word as u8);
        prefetch(self.ids.as_bytes().last_chunk::<64>().map_or(&[], |end| end), |byte| *byte);
        prefetch(self.ids.as_bytes(), |byte| *byte);
    }

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

    pub(super) fn id(&self, index: usize) -> String {
        let (prefix, own_ids) = self.split_ids();
        let start = ids_of(&self.list[..index]);
        let own = &own_ids[start..start + usize::from(self.list[index].id_len)];
        [prefix, own].concat()
    }

    /// The prefix, and all that follows it.
    fn split_ids(&self) -> (&str, &str) {
        self.ids.split_at(self.id_prefix_len.into())
    }

    /// Of each line, what follows the prefix in its id.
    fn own_ids(&self) -> impl Iterator<Item = &str> {
        let (_, mut rest) = self.split_ids();
        self.list.iter().map(move |line| {
            let (own, later) = rest.split_at(line.id_len.into());
            rest = later;
            own
        })
    }

    /// The indexes of the lines with this id, oldest first.
    pub(super) fn with_id(&self, id: &str) -> impl Iterator<Item = usize> {
        let looked_for = cut_id(id).strip_prefix(self.split_ids().0);
        let own_ids = self.own_ids().enumerate();
        own_ids.filter(move |(_, own)| Some(*own) == looked_for).map(|(index, _)| index)
    }

    /// Adds one more; the oldest make room for it.
    pub(super) fn push(&mut self, line: TalkLine, id: &str, words: &[u16]) {
        if self.list.len() == LINES_MAX + LINES_OVER {
            self.drop_oldest(LINES_OVER + 1);
        }
        grow_exactly(&mut self.list, LINES_MAX + LINES_OVER);
        let id = cut_id(id);
        if self.list.is_empty() {
            self.set_prefix(id);
        } else if !id.starts_with(self.split_ids().0) {
            self.set_prefix(shared_start(id, self.split_ids().0));
        }
        let id = &id[self.id_prefix_len.into()..];
        let (id_len, words_len) = (id.len() as u16, words.len() as u8);
        self.list.push(TalkLine { id_len, words_len, ..line });
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
        self.list[index].set_gone();
    }

    /// As they are written; the last is number `heard - 1`.
    pub(super) fn stored(&self, heard: u32) -> Vec<StoredLine<'static>> {
        let first = heard.wrapping_sub(self.list.len() as u32);
        let mut start = 0;
        let stored = self.list.iter().zip(0..).map(|(line, index)| {
            let words = &self.words[start..start + usize::from(line.words_len)];
            start += words.len();
            StoredLine::of(line, first.wrapping_add(index), self.id(index as usize), words)
        });
        stored.collect()
    }

    /// Reads them back.
    pub(super) fn of_stored(stored: Vec<StoredLine<'_>>, heard: u32) -> TalkLines {
        let mut lines = TalkLines::default();
        let first = heard.wrapping_sub(stored.len() as u32);
        for (stored, index) in stored.into_iter().zip(0..) {
            let (line, id, words) = stored.take(first.wrapping_add(index));
            lines.push(line, &id, &words);
        }
        lines
    }

    fn drop_oldest(&mut self, count: usize) {
        let (ids, words) = (ids_of(&self.list[..count]), words_of(&self.list[..count]));
        self.ids.drain(self.id_prefix_len.into()..ids + usize::from(self.id_prefix_len));
        self.words.drain(..words);
        self.list.drain(..count);
        self.lengthen_prefix();
    }

    /// Those that are left may have more in common than those that went.
    fn lengthen_prefix(&mut self) {
        let mut own_ids = self.own_ids();
        let Some(mut shared) = own_ids.next() else { return };
        for own in own_ids {
            shared = shared_start(shared, own);
            if shared.is_empty() {
                return;
            }
        }
        let prefix = [self.split_ids().0, shared].concat();
        self.set_prefix(&prefix);
    }

    /// All ids begin with this, of which at least one of the new and the old prefix begins with the other.
    fn set_prefix(&mut self, prefix: &str) {
        let (old, own_ids) = self.split_ids();
        let back = old.get(prefix.len()..).unwrap_or("");
        let away = prefix.len().saturating_sub(old.len());
        let more = self.list.len() * back.len() + MORE_ID_BYTES;
        let mut ids = String::with_capacity(prefix.len() + own_ids.len() + more);
        ids.push_str(prefix);
        for own in self.own_ids() {
            ids.push_str(back);
            ids.push_str(&own[away..]);
        }
        let (back, away) = (back.len() as u16, away as u16);
        (self.ids, self.id_prefix_len) = (ids, prefix.len() as u16);
        for line in &mut self.list {
            line.id_len = line.id_len + back - away;
        }
    }
}

/// How long an id is as far as it is kept: much longer than those of any platform.
const ID_BYTES_MAX: usize = u16::MAX as usize;

fn cut_id(id: &str) -> &str {
    &id[..id.floor_char_boundary(ID_BYTES_MAX)]
}

/// How many bytes of the ids of these lines are their own.
fn ids_of(lines: &[TalkLine]) -> usize {
    lines.iter().map(|line| usize::from(line.id_len)).sum()
}

/// How many words these lines have.
fn words_of(lines: &[TalkLine]) -> usize {
    lines.iter().map(|line| usize::from(line.words_len)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ids<'a>(ids: impl IntoIterator<Item = &'a str>) -> TalkLines {
        let mut lines = TalkLines::default();
        ids.into_iter().for_each(|id| lines.push(TalkLine::default(), id, &[7]));
        lines
    }

    #[test]
    fn ids_are_found_whatever_they_have_in_common() {
        let long = "x".repeat(300);
        for ids in [vec!["a:999", "a:1000", "a:1001"], vec!["é1", "ê1", "é2"], vec!["", "a"], vec!["b", &long, "b", ""]]
        {
            let lines = with_ids(ids.iter().copied());
            for (index, id) in ids.iter().enumerate() {
                assert_eq!(lines.id(index), *id);
                let expected: Vec<usize> = (0..ids.len()).filter(|other| ids[*other] == *id).collect();
                assert_eq!(lines.with_id(id).collect::<Vec<_>>(), expected, "{id}");
            }
            assert_eq!(lines.with_id("a:").next(), None);
        }
    }

    #[test]
    fn what_ids_have_in_common_is_kept_once() {
        let numbers: Vec<String> = (1000..1300).map(|number| format!("a long name of a room:{number}")).collect();
        let ids = || numbers.iter().map(String::as_str);
        let lines = with_ids(ids().take(100).chain(["other"]).chain(ids().skip(100)));
        assert_eq!(lines.id(lines.all().len() - 1), "a long name of a room:1299");
        assert_eq!(lines.split_ids().0, "a long name of a room:12", "the other one is gone");
        assert_eq!(lines.split_ids().1.len(), 2 * lines.all().len());
        let written = |lines: &TalkLines| serde_json::to_string(&lines.stored(301)).expect("lines can be written");
        let read = TalkLines::of_stored(serde_json::from_str(&written(&lines)).expect("lines can be read"), 301);
        assert_eq!(written(&read), written(&lines));
    }
}
