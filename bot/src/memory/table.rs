//! The operations of a memory store: it keeps entries and finds them again. What each change means is defined once, in
//! `apply`.

use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Layer, Marks, Person, Tie};
use aizuchi_core::types::{MessageId, PersonId, RoomId, stable_hash};

use crate::stores::StoreError;

pub type StoreResult<T> = Result<T, StoreError>;

/// The layers that a store keeps; it ignores changes to the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredLayers {
    pub channels: bool,
    pub people: bool,
    pub facts: bool,
}

impl StoredLayers {
    pub const ALL: StoredLayers = StoredLayers { channels: true, people: true, facts: true };
    pub const NONE: StoredLayers = StoredLayers { channels: false, people: false, facts: false };

    pub fn has(self, layer: Layer) -> bool {
        match layer {
            Layer::Channels => self.channels,
            Layer::People => self.people,
            Layer::Facts => self.facts,
        }
    }
}

pub trait MemoryTable {
    fn marks(&self, room: &RoomId) -> StoreResult<Marks>;
    fn put_marks(&mut self, room: &RoomId, marks: Marks) -> StoreResult<()>;

    fn channel(&self, room: &RoomId) -> StoreResult<Option<ChannelMemory>>;
    fn channels(&self) -> StoreResult<Vec<ChannelMemory>>;
    fn put_channel(&mut self, channel: &ChannelMemory) -> StoreResult<()>;
    fn remove_channel(&mut self, room: &RoomId) -> StoreResult<()>;

    fn person(&self, id: &PersonId) -> StoreResult<Option<Person>>;
    /// The latest seen first.
    fn people(&self) -> StoreResult<Vec<Person>>;
    fn people_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Person>>;
    fn put_person(&mut self, person: &Person) -> StoreResult<()>;
    fn remove_person(&mut self, id: &PersonId) -> StoreResult<()>;

    fn tie(&self, room: &RoomId, from: &PersonId, to: &PersonId) -> StoreResult<Option<Tie>>;
    /// The ties of one room or of all; only this person's if one is given.
    fn ties(&self, room: Option<&RoomId>, person: Option<&PersonId>) -> StoreResult<Vec<Tie>>;
    fn ties_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Tie>>;
    fn rooms_with_ties(&self) -> StoreResult<Vec<RoomId>>;
    fn put_tie(&mut self, tie: &Tie) -> StoreResult<()>;
    fn remove_tie(&mut self, tie: &Tie) -> StoreResult<()>;

    fn new_fact(&mut self) -> StoreResult<FactId>;
    fn fact(&self, id: FactId) -> StoreResult<Option<Fact>>;
    fn facts(&self) -> StoreResult<Vec<Fact>>;
    fn facts_of_room(&self, room: &RoomId) -> StoreResult<Vec<Fact>>;
    fn facts_of_person(&self, person: &PersonId) -> StoreResult<Vec<Fact>>;
    /// Includes the facts that have the message in their context.
    fn facts_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Fact>>;
    /// Facts of a room that may say the same as this text, or the opposite, ordered by number.
    fn facts_alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>>;
    fn rooms_with_facts(&self) -> StoreResult<Vec<RoomId>>;
    fn count_facts(&self, room: &RoomId) -> StoreResult<u32>;
    /// Upgrades what an earlier version stored, one part at a time.
    fn upgrade(&mut self) -> StoreResult<()>;
    fn put_fact(&mut self, fact: &Fact) -> StoreResult<()>;
    /// Also removes its vector.
    fn remove_fact(&mut self, id: FactId) -> StoreResult<()>;
    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()>;
    fn remove_vector(&mut self, id: FactId) -> StoreResult<()>;

    fn is_out(&self, person: OptOutMark) -> StoreResult<bool>;
    fn put_out(&mut self, person: OptOutMark, out: bool) -> StoreResult<()>;
}

/// How many facts that share one word of a sketch are considered, and how many of all those found.
pub const SHARING_MAX: usize = 64;
const ALIKE_MAX: usize = 16;

/// Facts with how many words of a sketch they share. `newest` are the newest facts that have each word, at most [`SHARING_MAX`] of
/// them; `has` says whether a fact has the word at this position. A fact that is among the newest of a rare word is found however
/// many newer ones share its other words.
pub fn count_shared<K: Ord + Copy>(
    newest: &[Vec<K>],
    mut has: impl FnMut(usize, K) -> StoreResult<bool>,
) -> StoreResult<BTreeMap<K, usize>> {
    let mut shared: BTreeMap<K, usize> = BTreeMap::new();
    newest.iter().flatten().for_each(|fact| *shared.entry(*fact).or_default() += 1);
    let is_whole = |facts: &&Vec<K>| facts.len() < SHARING_MAX;
    let of_rare: BTreeSet<K> = newest.iter().filter(is_whole).flatten().copied().collect();
    for (position, facts) in newest.iter().enumerate().filter(|(_, facts)| !is_whole(facts)) {
        let Some(oldest) = facts.iter().min() else { continue };
        for fact in of_rare.iter().take_while(|fact| *fact < oldest) {
            if has(position, *fact)? {
                *shared.entry(*fact).or_default() += 1;
            }
        }
    }
    Ok(shared)
}

/// Of facts with how many of so many words of a sketch they share, those that may say the same, ordered by key. Of those that share
/// as many, the greatest keys are the newest.
pub fn most_alike<K: Ord>(shared: impl IntoIterator<Item = (K, usize)>, asked: usize) -> Vec<K> {
    let mut best: Vec<(usize, K)> = shared.into_iter().map(|(fact, words)| (words, fact)).collect();
    best.retain(|(words, _)| 2 * words >= asked);
    best.sort_unstable_by(|a, b| b.cmp(a));
    best.truncate(ALIKE_MAX);
    let mut facts: Vec<K> = best.into_iter().map(|(_, fact)| fact).collect();
    facts.sort_unstable();
    facts
}

/// All that is kept of a person who opted out: a number that does not reveal who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OptOutMark(pub i64);

impl From<&PersonId> for OptOutMark {
    fn from(person: &PersonId) -> OptOutMark {
        OptOutMark(stable_hash(OUT, person.as_str()).cast_signed())
    }
}

const OUT: u64 = 0x6f70_7465_646f_7574;
