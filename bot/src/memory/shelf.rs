//! What a store of memory can do: put things onto a shelf and find them again. What changes mean is said once, in `apply`.

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Layer, Marks, Person};
use aizuchi_core::types::{MessageId, PersonId, RoomId, stable_hash};

use crate::stores::StoreError;

pub type Shelved<T> = Result<T, StoreError>;

/// The layers that a store keeps; it lets pass by what is not its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    pub channels: bool,
    pub people: bool,
    pub facts: bool,
}

impl Kept {
    pub const ALL: Kept = Kept { channels: true, people: true, facts: true };
    pub const NONE: Kept = Kept { channels: false, people: false, facts: false };

    pub fn has(self, layer: Layer) -> bool {
        match layer {
            Layer::Channels => self.channels,
            Layer::People => self.people,
            Layer::Facts => self.facts,
        }
    }
}

pub trait Shelf {
    fn marks(&self, room: &RoomId) -> Shelved<Marks>;
    fn put_marks(&mut self, room: &RoomId, marks: Marks) -> Shelved<()>;

    fn channel(&self, room: &RoomId) -> Shelved<Option<ChannelMemory>>;
    fn channels(&self) -> Shelved<Vec<ChannelMemory>>;
    fn put_channel(&mut self, channel: &ChannelMemory) -> Shelved<()>;
    fn remove_channel(&mut self, room: &RoomId) -> Shelved<()>;

    fn person(&self, id: &PersonId) -> Shelved<Option<Person>>;
    /// The latest seen first.
    fn people(&self) -> Shelved<Vec<Person>>;
    fn people_resting_on(&self, room: &RoomId, message: &MessageId) -> Shelved<Vec<Person>>;
    fn put_person(&mut self, person: &Person) -> Shelved<()>;
    fn remove_person(&mut self, id: &PersonId) -> Shelved<()>;

    fn new_fact(&mut self) -> Shelved<FactId>;
    fn fact(&self, id: FactId) -> Shelved<Option<Fact>>;
    fn facts(&self) -> Shelved<Vec<Fact>>;
    fn facts_of_room(&self, room: &RoomId) -> Shelved<Vec<Fact>>;
    fn facts_of_person(&self, person: &PersonId) -> Shelved<Vec<Fact>>;
    fn facts_resting_on(&self, room: &RoomId, message: &MessageId) -> Shelved<Vec<Fact>>;
    fn put_fact(&mut self, fact: &Fact) -> Shelved<()>;
    /// With its vector.
    fn remove_fact(&mut self, id: FactId) -> Shelved<()>;
    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> Shelved<()>;
    fn remove_vector(&mut self, id: FactId) -> Shelved<()>;

    fn is_out(&self, person: Mark) -> Shelved<bool>;
    fn put_out(&mut self, person: Mark, out: bool) -> Shelved<()>;
}

/// All that is kept of somebody who wishes not to be remembered: a number that tells nobody who it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(pub i64);

impl From<&PersonId> for Mark {
    fn from(person: &PersonId) -> Mark {
        Mark(stable_hash(OUT, person.as_str()).cast_signed())
    }
}

const OUT: u64 = 0x6f70_7465_646f_7574;
