//! The people of a room, each stored once, as long as one of their messages is remembered.

use serde::{Deserialize, Serialize};

use crate::types::{PersonId, prefetch, stable_hash};

/// A speaker's index within the room.
pub(super) type Index = u16;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Speakers {
    list: Vec<Speaker>,
    /// Ids and names, concatenated.
    text: String,
}

/// Twenty bytes: a room has as many of these as people, and there are many rooms.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "StoredSpeaker", into = "StoredSpeaker")]
#[repr(Rust, packed(4))]
struct Speaker {
    /// Hash of the id, which identifies the person where a number is enough.
    key: u64,
    /// Where the id begins in the text; the name follows it, unless both are the same.
    start: u32,
    id_len: u16,
    name_len: u16,
    /// The number of remembered messages; at 0 the slot is free.
    uses: u32,
}

/// As it is written into a snapshot.
#[derive(Serialize, Deserialize)]
struct StoredSpeaker {
    key: u64,
    /// No longer kept.
    name_hash: u32,
    start: u32,
    id_len: u16,
    name_len: u16,
    uses: u32,
}

impl From<Speaker> for StoredSpeaker {
    fn from(Speaker { key, start, id_len, name_len, uses }: Speaker) -> StoredSpeaker {
        StoredSpeaker { key, name_hash: 0, start, id_len, name_len, uses }
    }
}

impl From<StoredSpeaker> for Speaker {
    fn from(StoredSpeaker { key, start, id_len, name_len, uses, .. }: StoredSpeaker) -> Speaker {
        Speaker { key, start, id_len, name_len, uses }
    }
}

fn used(speaker: &Speaker) -> usize {
    usize::from(speaker.id_len) + usize::from(speaker.name_len)
}

fn key_of(id: &str) -> u64 {
    stable_hash(0, id)
}

/// The maximum length of an id or name, in bytes.
const LEN_MAX: usize = 1000;

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LEN_MAX)]
}

impl Speakers {
    /// What the next message needs.
    pub(super) fn prefetch(&self) {
        prefetch(&self.list, |speaker| speaker.uses as u8);
    }

    pub(crate) fn key(&self, id: &PersonId) -> u64 {
        key_of(id.as_str())
    }

    /// The speaker's index, counting one more message of theirs; a changed name is updated.
    pub(crate) fn hold(&mut self, id: &str, name: &str) -> Index {
        let key = key_of(id);
        let mut free = None;
        for (index, speaker) in self.list.iter_mut().enumerate() {
            if speaker.uses == 0 {
                free = Some(index);
            } else if speaker.key == key {
                speaker.uses += 1;
                if !self.name(index as Index).eq_ignore_ascii_case(cut(name)) {
                    self.store(index, id, name);
                }
                return index as Index;
            }
        }
        let index = free.unwrap_or_else(|| {
            self.list.reserve_exact(2);
            self.list.push(Speaker { key, start: 0, id_len: 0, name_len: 0, uses: 0 });
            self.list.len() - 1
        });
        // This may clear unused entries, so it comes last.
        self.store(index, id, name);
        (self.list[index].key, self.list[index].uses) = (key, 1);
        Index::try_from(index).expect("no more speakers than buffered messages")
    }

    pub(crate) fn release(&mut self, index: Index) {
        let speaker = &mut self.list[usize::from(index)];
        speaker.uses = speaker.uses.saturating_sub(1);
    }

    pub(crate) fn key_at(&self, index: Index) -> u64 {
        self.list[usize::from(index)].key
    }

    pub(crate) fn name(&self, index: Index) -> &str {
        let speaker = &self.list[usize::from(index)];
        let start = speaker.start as usize;
        let (id_len, name_len) = (usize::from(speaker.id_len), usize::from(speaker.name_len));
        let name_start = if name_len == 0 { start } else { start + id_len };
        &self.text[name_start..start + id_len + name_len]
    }

    /// The remembered person with this name.
    pub(crate) fn by_name(&self, name: &str) -> Option<u64> {
        let mut remembered = self.list.iter().enumerate().filter(|(_, speaker)| speaker.uses > 0);
        let is_called_so = |index: usize| self.name(index as Index).eq_ignore_ascii_case(name);
        remembered.find(|(index, _)| is_called_so(*index)).map(|(_, speaker)| speaker.key)
    }

    fn store(&mut self, index: usize, id: &str, name: &str) {
        self.compact();
        let (id, name) = (cut(id), cut(name));
        let start = self.text.len() as u32;
        self.text.reserve_exact(id.len() + name.len());
        self.text.push_str(id);
        let same = id == name;
        if !same {
            self.text.push_str(name);
        }
        let speaker = &mut self.list[index];
        (speaker.start, speaker.id_len) = (start, id.len() as u16);
        speaker.name_len = if same { 0 } else { name.len() as u16 };
    }

    /// Drops the text of people who are gone, once it outweighs the rest.
    fn compact(&mut self) {
        let live: usize = self.list.iter().filter(|speaker| speaker.uses > 0).map(used).sum();
        if self.text.len() >= 2 * live + 64 {
            self.tighten();
        }
    }

    /// Leaves nothing behind of people who are gone.
    pub(crate) fn tighten(&mut self) {
        let mut text = String::with_capacity(self.text.len());
        for speaker in &mut self.list {
            let start = speaker.start as usize;
            speaker.start = text.len() as u32;
            if speaker.uses > 0 {
                text.push_str(&self.text[start..start + used(speaker)]);
            } else {
                (speaker.id_len, speaker.name_len, speaker.key) = (0, 0, 0);
            }
        }
        self.text = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_stored_once_and_let_go() {
        let mut speakers = Speakers::default();
        let alice = speakers.hold("u1", "alice");
        assert_eq!(speakers.hold("u1", "alice"), alice);
        let bob = speakers.hold("bob", "bob");
        assert_eq!((speakers.name(alice), speakers.name(bob)), ("alice", "bob"));
        assert_eq!(speakers.by_name("alice"), Some(speakers.key_at(alice)));
        speakers.release(alice);
        assert!(speakers.by_name("alice").is_some());
        speakers.release(alice);
        assert_eq!(speakers.by_name("alice"), None);
        assert_eq!(speakers.hold("u9", "カロル"), alice, "a free slot is used again");
        assert_eq!(speakers.name(alice), "カロル");
    }

    #[test]
    fn a_new_name_replaces_the_old_one() {
        let mut speakers = Speakers::default();
        let alice = speakers.hold("u1", "alice");
        for turn in 0..200 {
            speakers.hold("u1", &format!("alice{turn}"));
        }
        assert_eq!(speakers.name(alice), "alice199");
        assert!(speakers.text.len() < 200, "{}", speakers.text.len());
    }

    #[test]
    fn a_slot_that_is_used_again_knows_whose_it_is() {
        let mut speakers = Speakers::default();
        for turn in 0..1000 {
            let id = format!("somebody with a long id {turn}");
            let index = speakers.hold(&id, "name");
            assert_eq!(speakers.key_at(index), key_of(&id));
            assert_eq!(speakers.by_name("name"), Some(key_of(&id)));
            speakers.release(index);
        }
    }

    #[test]
    fn many_passers_by_leave_nothing_behind() {
        let mut speakers = Speakers::default();
        for turn in 0..10_000 {
            let index = speakers.hold(&format!("id{turn}"), &"n".repeat(5000));
            speakers.release(index);
        }
        assert!(speakers.list.len() <= 2 && speakers.text.len() < 10_000);
    }
}
