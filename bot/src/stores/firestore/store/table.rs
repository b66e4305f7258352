//! The documents of memory, as `apply` reads and writes them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Marks, Person, Tie, sketch};
use aizuchi_core::types::{MessageId, PersonId, RoomId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::document::{Collection, DocumentFields, DocumentFilter, DocumentKey, MESSAGES, PEOPLE, ROOM, hash};
use super::facts::{self, StoredVector, message_value, sketch_value};
use super::scope::MessageScope;
use super::session::ChangeSession;
use crate::memory::table::{MemoryTable, OptOutMark, SHARING_MAX, StoreResult, most_alike};
use crate::ports::JournalId;

/// The number of the latest fact.
#[derive(Default, Serialize, Deserialize)]
pub struct LastFact {
    pub last: u64,
}

/// How far the records of a room were read in a journal, with both: the name of a document does not tell them.
#[derive(Serialize, Deserialize)]
pub struct StoredMarks {
    pub journal: JournalId,
    pub room: RoomId,
    pub marks: Marks,
}

pub struct FirestoreTable(pub ChangeSession);

pub fn marks_key(journal: &JournalId, room: &RoomId) -> DocumentKey {
    DocumentKey::of(Collection::Marks, &[&journal.0, room.as_str()])
}

pub fn channel_key(room: &RoomId) -> DocumentKey {
    DocumentKey::of(Collection::Channels, &[room.as_str()])
}

pub fn person_key(id: &PersonId) -> DocumentKey {
    DocumentKey::of(Collection::People, &[id.as_str()])
}

pub fn tie_key(room: &RoomId, from: &PersonId, to: &PersonId) -> DocumentKey {
    DocumentKey::of(Collection::Ties, &[room.as_str(), from.as_str(), to.as_str()])
}

pub fn in_room(room: &RoomId) -> DocumentFilter {
    DocumentFilter::Is(ROOM, hash(&[room.as_str()]))
}

pub fn of_person(person: &PersonId) -> DocumentFilter {
    DocumentFilter::has(PEOPLE, hash(&[person.as_str()]))
}

/// Latest seen first.
pub fn sort_people(people: &mut [Person]) {
    people.sort_by(|a, b| b.last_seen.cmp(&a.last_seen).then(a.id.cmp(&b.id)));
}

/// Ordered by room and people, as in the other stores.
pub fn sort_ties(ties: &mut [Tie]) {
    ties.sort_by(|a, b| (&a.origin.room, &a.from, &a.to).cmp(&(&b.origin.room, &b.from, &b.to)));
}

/// The filter for the ties of a room or of a person.
pub fn ties_where(room: Option<&RoomId>, person: Option<&PersonId>) -> DocumentFilter {
    match (room, person) {
        (Some(room), _) => in_room(room),
        (None, Some(person)) => of_person(person),
        (None, None) => DocumentFilter::All,
    }
}

impl FirestoreTable {
    fn one<T: DeserializeOwned>(&self, key: &DocumentKey) -> StoreResult<Option<T>> {
        self.0.get(key)?.map(|fields| fields.body()).transpose()
    }

    fn all<T: DeserializeOwned>(&self, collection: Collection, filter: &DocumentFilter) -> StoreResult<Vec<T>> {
        self.0.select(collection, filter, None)?.iter().map(|(_, fields)| fields.body()).collect()
    }

    /// Ordered by number.
    fn facts_where(&self, filter: &DocumentFilter) -> StoreResult<Vec<Fact>> {
        let mut facts: Vec<Fact> = self.all(Collection::Facts, filter)?;
        facts.reverse();
        Ok(facts)
    }

    /// Facts with words of a sketch, the newest for each word, and how many of the words they have: an old fact that has a rare one is
    /// found however many newer ones share its other words.
    fn sharing(&self, asked: &[String]) -> StoreResult<BTreeMap<String, (usize, Arc<DocumentFields>)>> {
        // One query for all words is enough if few facts have them.
        let any = DocumentFilter::HasAny(facts::SKETCH, asked.to_vec());
        let mut found: BTreeMap<String, Arc<DocumentFields>> = BTreeMap::new();
        found.extend(self.0.select(Collection::Facts, &any, Some(SHARING_MAX))?);
        if found.len() >= SHARING_MAX {
            for word in asked {
                let filter = DocumentFilter::has(facts::SKETCH, word.clone());
                found.extend(self.0.select(Collection::Facts, &filter, Some(SHARING_MAX))?);
            }
        }
        let shared = |fields: &DocumentFields| fields.texts(facts::SKETCH).filter(|word| is_in(asked, word)).count();
        Ok(found.into_iter().map(|(id, fields)| (id, (shared(&fields), fields))).collect())
    }

    fn vector(&self, id: FactId) -> StoreResult<StoredVector> {
        let fields = self.0.get(&DocumentKey::of_fact(id.0))?;
        Ok(fields.map(|fields| facts::vector_of(&fields)).unwrap_or_default())
    }

    fn put_with(&mut self, fact: &Fact, vector: &StoredVector) -> StoreResult<()> {
        let fields = facts::to_fields(self.0.scope(), fact, vector);
        self.0.put(DocumentKey::of_fact(fact.id.0), fields)
    }
}

pub fn channel_fields(channel: &ChannelMemory) -> DocumentFields {
    let people = channel.active.iter().map(|(person, _)| hash(&[person.as_str()]));
    DocumentFields::of(channel).with_texts(PEOPLE, people)
}

/// The rooms and messages that a person's profile rests on.
pub fn person_messages(person: &Person) -> BTreeSet<(&RoomId, &MessageId)> {
    let remarks = [&person.topics, &person.tags, &person.notes, &person.talks].into_iter().flatten();
    let messages = remarks.flat_map(|remark| {
        let messages = remark.messages.iter().chain(remark.echoes.iter().map(|echoed| &echoed.message));
        messages.map(|message| (&remark.origin.room, message))
    });
    messages.collect()
}

pub fn person_fields(scope: &MessageScope, person: &Person) -> DocumentFields {
    let messages = person_messages(person).into_iter().map(|(room, message)| message_value(scope, room, message));
    with_messages(DocumentFields::of(person), messages)
}

pub fn tie_fields(scope: &MessageScope, tie: &Tie) -> DocumentFields {
    let room = &tie.origin.room;
    let messages = tie.words.iter().flat_map(|word| &word.messages).map(|message| message_value(scope, room, message));
    let fields = DocumentFields::of(tie)
        .with_text(ROOM, hash(&[room.as_str()]))
        .with_texts(PEOPLE, [&tie.from, &tie.to].map(|person| hash(&[person.as_str()])));
    with_messages(fields, messages)
}

fn is_in(words: &[String], word: &str) -> bool {
    words.iter().any(|other| other == word)
}

/// Adds the messages that a person or a tie rests on.
fn with_messages(fields: DocumentFields, messages: impl Iterator<Item = String>) -> DocumentFields {
    fields.with_texts(MESSAGES, messages.collect::<BTreeSet<_>>())
}

impl MemoryTable for FirestoreTable {
    fn marks(&self, room: &RoomId) -> StoreResult<Marks> {
        let Some(journal) = self.0.scope().journal() else { return Ok(Marks::default()) };
        let stored: Option<StoredMarks> = self.one(&marks_key(journal, room))?;
        Ok(stored.map(|stored| stored.marks).unwrap_or_default())
    }

    fn put_marks(&mut self, room: &RoomId, marks: Marks) -> StoreResult<()> {
        let Some(journal) = self.0.scope().journal().cloned() else { return Ok(()) };
        let key = marks_key(&journal, room);
        self.0.put(key, DocumentFields::of(&StoredMarks { journal, room: room.clone(), marks }))
    }

    fn channel(&self, room: &RoomId) -> StoreResult<Option<ChannelMemory>> {
        self.one(&channel_key(room))
    }

    fn channels(&self) -> StoreResult<Vec<ChannelMemory>> {
        let mut channels: Vec<ChannelMemory> = self.all(Collection::Channels, &DocumentFilter::All)?;
        channels.sort_by(|a, b| a.origin.room.cmp(&b.origin.room));
        Ok(channels)
    }

    fn put_channel(&mut self, channel: &ChannelMemory) -> StoreResult<()> {
        self.0.put(channel_key(&channel.origin.room), channel_fields(channel))
    }

    fn remove_channel(&mut self, room: &RoomId) -> StoreResult<()> {
        self.0.remove(channel_key(room))
    }

    fn person(&self, id: &PersonId) -> StoreResult<Option<Person>> {
        self.one(&person_key(id))
    }

    fn people(&self) -> StoreResult<Vec<Person>> {
        let mut people: Vec<Person> = self.all(Collection::People, &DocumentFilter::All)?;
        sort_people(&mut people);
        Ok(people)
    }

    fn people_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Person>> {
        self.all(Collection::People, &DocumentFilter::has(MESSAGES, message_value(self.0.scope(), room, message)))
    }

    fn put_person(&mut self, person: &Person) -> StoreResult<()> {
        let fields = person_fields(self.0.scope(), person);
        self.0.put(person_key(&person.id), fields)
    }

    fn remove_person(&mut self, id: &PersonId) -> StoreResult<()> {
        self.0.remove(person_key(id))
    }

    fn tie(&self, room: &RoomId, from: &PersonId, to: &PersonId) -> StoreResult<Option<Tie>> {
        self.one(&tie_key(room, from, to))
    }

    fn ties(&self, room: Option<&RoomId>, person: Option<&PersonId>) -> StoreResult<Vec<Tie>> {
        let mut ties: Vec<Tie> = self.all(Collection::Ties, &ties_where(room, person))?;
        ties.retain(|tie| person.is_none_or(|person| tie.is_of(person)));
        sort_ties(&mut ties);
        Ok(ties)
    }

    fn ties_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Tie>> {
        self.all(Collection::Ties, &DocumentFilter::has(MESSAGES, message_value(self.0.scope(), room, message)))
    }

    fn rooms_with_ties(&self) -> StoreResult<Vec<RoomId>> {
        let mut rooms: Vec<RoomId> = self.ties(None, None)?.into_iter().map(|tie| tie.origin.room).collect();
        rooms.dedup();
        Ok(rooms)
    }

    fn put_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        let fields = tie_fields(self.0.scope(), tie);
        self.0.put(tie_key(&tie.origin.room, &tie.from, &tie.to), fields)
    }

    fn remove_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        self.0.remove(tie_key(&tie.origin.room, &tie.from, &tie.to))
    }

    fn new_fact(&mut self) -> StoreResult<FactId> {
        let key = DocumentKey::of_last_fact();
        let LastFact { last } = self.one(&key)?.unwrap_or_default();
        self.0.put(key, DocumentFields::of(&LastFact { last: last + 1 }))?;
        self.0.assume_new(DocumentKey::of_fact(last + 1));
        Ok(FactId(last + 1))
    }

    fn fact(&self, id: FactId) -> StoreResult<Option<Fact>> {
        self.one(&DocumentKey::of_fact(id.0))
    }

    fn facts(&self) -> StoreResult<Vec<Fact>> {
        self.facts_where(&DocumentFilter::All)
    }

    fn facts_of_room(&self, room: &RoomId) -> StoreResult<Vec<Fact>> {
        self.facts_where(&in_room(room))
    }

    fn facts_of_person(&self, person: &PersonId) -> StoreResult<Vec<Fact>> {
        self.facts_where(&of_person(person))
    }

    fn facts_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Fact>> {
        self.facts_where(&DocumentFilter::has(MESSAGES, message_value(self.0.scope(), room, message)))
    }

    fn facts_alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>> {
        let asked: Vec<String> = sketch(content).into_iter().map(|word| sketch_value(room, word)).collect();
        // The newest have the first names.
        let sharing = self.sharing(&asked)?;
        let best = most_alike(sharing.iter().map(|(id, (words, _))| (Reverse(id), *words)), asked.len());
        best.iter().map(|Reverse(id)| sharing[*id].1.body()).collect()
    }

    fn rooms_with_facts(&self) -> StoreResult<Vec<RoomId>> {
        let mut rooms: Vec<RoomId> = self.facts()?.into_iter().map(|fact| fact.origin.room).collect();
        rooms.sort();
        rooms.dedup();
        Ok(rooms)
    }

    fn count_facts(&self, room: &RoomId) -> StoreResult<u32> {
        Ok(u32::try_from(self.0.count(Collection::Facts, &in_room(room))?).unwrap_or(u32::MAX))
    }

    fn upgrade(&mut self) -> StoreResult<()> {
        Ok(())
    }

    fn put_fact(&mut self, fact: &Fact) -> StoreResult<()> {
        let vector = self.vector(fact.id)?;
        self.put_with(fact, &vector)
    }

    fn remove_fact(&mut self, id: FactId) -> StoreResult<()> {
        self.0.remove(DocumentKey::of_fact(id.0))
    }

    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        self.put_with(fact, &StoredVector { model: model.to_owned(), vector: vector.to_vec() })
    }

    fn remove_vector(&mut self, id: FactId) -> StoreResult<()> {
        match self.fact(id)? {
            Some(fact) => self.put_with(&fact, &StoredVector::default()),
            None => Ok(()),
        }
    }

    fn is_out(&self, person: OptOutMark) -> StoreResult<bool> {
        Ok(self.0.get(&DocumentKey::of_opt_out(person))?.is_some())
    }

    fn put_out(&mut self, person: OptOutMark, out: bool) -> StoreResult<()> {
        let key = DocumentKey::of_opt_out(person);
        if out { self.0.put(key, DocumentFields::default()) } else { self.0.remove(key) }
    }
}
