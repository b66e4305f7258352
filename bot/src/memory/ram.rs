//! Keeps memory as long as this process runs, and no longer.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use aizuchi_core::Policies;
use aizuchi_core::memory::rank::{index_words, terms};
use aizuchi_core::memory::words::search_words;
use aizuchi_core::memory::{
    Candidate, ChannelMemory, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, Tie,
    allowed, recall, sketch,
};
use aizuchi_core::types::{MessageId, PersonId, RoomId};

use super::apply::apply;
use super::table::{MemoryTable, OptOutMark, SHARING_MAX, StoreResult, StoredLayers, count_shared, most_alike};
use super::{MemoryStoreSpec, nothing_missing, tried_with_the_rest};
use crate::ports::{BoxFuture, Memory, MemoryCatalog, MemoryStore};
use crate::stores::StoreError;

pub const SPEC: MemoryStoreSpec = MemoryStoreSpec {
    name: "memory",
    same_as: None,
    missing: nothing_missing,
    try_out: tried_with_the_rest,
    open: |_, kept| {
        let ram: Arc<dyn MemoryStore> = Arc::new(Ram::new(kept));
        Box::pin(std::future::ready(Ok(ram)))
    },
};

pub struct Ram {
    kept: StoredLayers,
    held: Mutex<RamTables>,
}

#[derive(Clone, Debug, Default)]
struct RamTables {
    marks: BTreeMap<RoomId, Marks>,
    channels: BTreeMap<RoomId, ChannelMemory>,
    people: BTreeMap<PersonId, Person>,
    /// By room, who answers, and whom.
    ties: BTreeMap<(RoomId, PersonId, PersonId), Tie>,
    facts: BTreeMap<FactId, Fact>,
    rooms: BTreeMap<RoomId, BTreeSet<FactId>>,
    /// The words of each fact.
    terms: BTreeMap<FactId, String>,
    /// The facts of a room that share a word of their sketches.
    sketches: BTreeMap<(RoomId, u64), BTreeSet<FactId>>,
    vectors: BTreeMap<FactId, (Box<str>, Vec<f32>)>,
    out: BTreeSet<OptOutMark>,
    last: u64,
}

impl Default for Ram {
    fn default() -> Ram {
        Ram::new(StoredLayers::ALL)
    }
}

impl Ram {
    pub fn new(kept: StoredLayers) -> Ram {
        Ram { kept, held: Mutex::default() }
    }

    fn with<T: Send + 'static>(&self, work: impl FnOnce(&mut RamTables) -> T) -> BoxFuture<'_, Result<T, StoreError>> {
        let done = work(&mut self.held.lock().expect("what is held is never left half done"));
        Box::pin(async { Ok(done) })
    }
}

impl Memory for Ram {
    fn apply<'a>(
        &'a self,
        changes: Vec<MemoryChange>,
        policies: &'a Policies,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut held = self.held.lock().expect("what is held is never left half done");
        for change in changes {
            apply(&mut *held, self.kept, change, policies).expect("nothing fails in memory");
        }
        Box::pin(async { Ok(()) })
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        self.with(|held| (held.channels.get(room).cloned(), held.marks.get(room).copied().unwrap_or_default()))
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>> {
        let memory = &policies.for_room(query.reader.room.as_str()).settings.memory;
        self.with(|held| {
            let may = |fact: &&Fact| allowed(&fact.origin, &query.reader, memory.across_rooms).is_some();
            let model = query.vector.as_ref().map(|(model, _)| model);
            let vector = |fact: &Fact| {
                let known = held.vectors.get(&fact.id).filter(|(of, _)| Some(of) == model);
                known.map(|(_, vector)| Cow::Borrowed(&vector[..]))
            };
            let candidate = |fact| Candidate {
                fact: Cow::Borrowed(fact),
                terms: Cow::Borrowed(&held.terms[&fact.id]),
                vector: vector(fact),
            };
            let candidates = held.facts.values().filter(may).map(candidate).collect();
            recall(candidates, None, &query, memory.into())
        })
    }

    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>> {
        self.with(|held| {
            let count = if filter.count == 0 { usize::MAX } else { filter.count };
            let fits = |fact: &&Fact| held.fits(fact, &filter);
            match filter.without_vector {
                None => held.facts.values().rev().filter(fits).take(count).cloned().collect(),
                Some(_) => held.facts.values().filter(fits).take(count).cloned().collect(),
            }
        })
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>> {
        self.with(|held| match who {
            Some(id) => held.find_person(id).into_iter().collect(),
            None => held.people().expect("nothing fails in memory"),
        })
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        self.with(|held| MemoryTable::ties(held, room, person).expect("nothing fails in memory"))
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        self.with(|held| {
            let is_active = |channel: &&ChannelMemory| channel.active.iter().any(|(id, _)| id == person);
            let channels = held.channels.values().filter(is_active).cloned().collect();
            let facts = held.facts_of_person(person).expect("nothing fails in memory");
            PersonExport::new(person, held.find_person(person), facts, channels)
        })
    }
}

impl RamTables {
    fn find_person(&self, id: &PersonId) -> Option<Person> {
        let out = || self.out.contains(&OptOutMark::from(id)).then(|| Person::opted_out(id.clone()));
        self.people.get(id).cloned().or_else(out)
    }

    fn fits(&self, fact: &Fact, filter: &Filter) -> bool {
        let has_vector = |model: &str| self.vectors.get(&fact.id).is_some_and(|(of, _)| **of == *model);
        filter.room.as_ref().is_none_or(|room| fact.origin.room == *room)
            && filter.person.as_ref().is_none_or(|person| fact.people.contains(person))
            && filter.without_vector.as_ref().is_none_or(|model| !has_vector(model))
            && filter.text.as_ref().is_none_or(|text| has_words(&self.terms[&fact.id], &search_words(text)))
    }

    /// Removes a fact from the indexes.
    fn unlist(&mut self, id: FactId) {
        let Some(fact) = self.facts.get(&id) else { return };
        let room = &fact.origin.room;
        remove_from(&mut self.rooms, room, id);
        for word in sketch(&fact.content) {
            remove_from(&mut self.sketches, &(room.clone(), word), id);
        }
    }

    fn chosen(&self, fits: impl Fn(&&Fact) -> bool) -> StoreResult<Vec<Fact>> {
        Ok(self.facts.values().filter(fits).cloned().collect())
    }
}

fn remove_from<K: Ord>(lists: &mut BTreeMap<K, BTreeSet<FactId>>, key: &K, id: FactId) {
    if let Some(ids) = lists.get_mut(key) {
        ids.remove(&id);
        if ids.is_empty() {
            lists.remove(key);
        }
    }
}

/// Whether a fact has all of these words.
fn has_words(terms: &str, asked: &[String]) -> bool {
    let (words, _) = index_words(terms);
    asked.iter().all(|word| words.binary_search(&word.as_str()).is_ok())
}

impl MemoryCatalog for Ram {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>> {
        self.with(|held| held.facts.get(&id).cloned())
    }

    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>> {
        self.with(|held| held.channels.values().cloned().collect())
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        self.with(|held| {
            let of_facts = held.facts.values().map(|fact| &fact.origin.room);
            let of_ties = held.ties.keys().map(|(room, ..)| room);
            let rooms = held.marks.keys().chain(held.channels.keys()).chain(of_facts).chain(of_ties);
            rooms.collect::<BTreeSet<_>>().into_iter().cloned().collect()
        })
    }
}

impl MemoryTable for RamTables {
    fn marks(&self, room: &RoomId) -> StoreResult<Marks> {
        Ok(self.marks.get(room).copied().unwrap_or_default())
    }

    fn put_marks(&mut self, room: &RoomId, marks: Marks) -> StoreResult<()> {
        self.marks.insert(room.clone(), marks);
        Ok(())
    }

    fn channel(&self, room: &RoomId) -> StoreResult<Option<ChannelMemory>> {
        Ok(self.channels.get(room).cloned())
    }

    fn channels(&self) -> StoreResult<Vec<ChannelMemory>> {
        Ok(self.channels.values().cloned().collect())
    }

    fn put_channel(&mut self, channel: &ChannelMemory) -> StoreResult<()> {
        self.channels.insert(channel.origin.room.clone(), channel.clone());
        Ok(())
    }

    fn remove_channel(&mut self, room: &RoomId) -> StoreResult<()> {
        self.channels.remove(room);
        Ok(())
    }

    fn person(&self, id: &PersonId) -> StoreResult<Option<Person>> {
        Ok(self.people.get(id).cloned())
    }

    fn people(&self) -> StoreResult<Vec<Person>> {
        let mut people: Vec<Person> = self.people.values().cloned().collect();
        people.sort_by(|a, b| b.last_seen.cmp(&a.last_seen).then(a.id.cmp(&b.id)));
        Ok(people)
    }

    fn people_resting_on(&self, _: &RoomId, _: &MessageId) -> StoreResult<Vec<Person>> {
        Ok(self.people.values().cloned().collect())
    }

    fn put_person(&mut self, person: &Person) -> StoreResult<()> {
        self.people.insert(person.id.clone(), person.clone());
        Ok(())
    }

    fn remove_person(&mut self, id: &PersonId) -> StoreResult<()> {
        self.people.remove(id);
        Ok(())
    }

    fn tie(&self, room: &RoomId, from: &PersonId, to: &PersonId) -> StoreResult<Option<Tie>> {
        Ok(self.ties.get(&(room.clone(), from.clone(), to.clone())).cloned())
    }

    fn ties(&self, room: Option<&RoomId>, person: Option<&PersonId>) -> StoreResult<Vec<Tie>> {
        let wanted = |tie: &&Tie| {
            room.is_none_or(|room| tie.origin.room == *room) && person.is_none_or(|person| tie.is_of(person))
        };
        Ok(self.ties.values().filter(wanted).cloned().collect())
    }

    fn ties_resting_on(&self, room: &RoomId, _: &MessageId) -> StoreResult<Vec<Tie>> {
        MemoryTable::ties(self, Some(room), None)
    }

    fn rooms_with_ties(&self) -> StoreResult<Vec<RoomId>> {
        let mut rooms: Vec<RoomId> = self.ties.keys().map(|(room, _, _)| room.clone()).collect();
        rooms.dedup();
        Ok(rooms)
    }

    fn put_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        self.ties.insert((tie.origin.room.clone(), tie.from.clone(), tie.to.clone()), tie.clone());
        Ok(())
    }

    fn remove_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        self.ties.remove(&(tie.origin.room.clone(), tie.from.clone(), tie.to.clone()));
        Ok(())
    }

    fn new_fact(&mut self) -> StoreResult<FactId> {
        self.last += 1;
        Ok(FactId(self.last))
    }

    fn fact(&self, id: FactId) -> StoreResult<Option<Fact>> {
        Ok(self.facts.get(&id).cloned())
    }

    fn facts(&self) -> StoreResult<Vec<Fact>> {
        self.chosen(|_| true)
    }

    fn facts_of_room(&self, room: &RoomId) -> StoreResult<Vec<Fact>> {
        let ids = self.rooms.get(room).into_iter().flatten();
        Ok(ids.map(|id| self.facts[id].clone()).collect())
    }

    fn facts_of_person(&self, person: &PersonId) -> StoreResult<Vec<Fact>> {
        self.chosen(|fact| fact.people.contains(person))
    }

    fn facts_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Fact>> {
        let beside = |fact: &Fact| fact.context.iter().any(|turn| turn.message == *message);
        self.chosen(|fact| fact.origin.room == *room && (fact.messages.contains(message) || beside(fact)))
    }

    fn facts_alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>> {
        let sketch = sketch(content);
        let with = |word: &u64| self.sketches.get(&(room.clone(), *word));
        let newest =
            sketch.iter().map(|word| with(word).into_iter().flatten().rev().take(SHARING_MAX).copied().collect());
        let newest: Vec<Vec<FactId>> = newest.collect();
        let has = |word: usize, fact| Ok(with(&sketch[word]).is_some_and(|facts| facts.contains(&fact)));
        let shared = count_shared(&newest, has)?;
        Ok(most_alike(shared, sketch.len()).iter().map(|id| self.facts[id].clone()).collect())
    }

    fn rooms_with_facts(&self) -> StoreResult<Vec<RoomId>> {
        Ok(self.rooms.keys().cloned().collect())
    }

    fn count_facts(&self, room: &RoomId) -> StoreResult<u32> {
        Ok(u32::try_from(self.rooms.get(room).map_or(0, BTreeSet::len)).unwrap_or(u32::MAX))
    }

    fn upgrade(&mut self) -> StoreResult<()> {
        Ok(())
    }

    fn put_fact(&mut self, fact: &Fact) -> StoreResult<()> {
        self.unlist(fact.id);
        self.rooms.entry(fact.origin.room.clone()).or_default().insert(fact.id);
        for word in sketch(&fact.content) {
            self.sketches.entry((fact.origin.room.clone(), word)).or_default().insert(fact.id);
        }
        self.terms.insert(fact.id, terms(fact));
        self.facts.insert(fact.id, fact.clone());
        Ok(())
    }

    fn remove_fact(&mut self, id: FactId) -> StoreResult<()> {
        self.vectors.remove(&id);
        self.unlist(id);
        self.facts.remove(&id);
        self.terms.remove(&id);
        Ok(())
    }

    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        self.vectors.insert(fact.id, (model.into(), vector.to_vec()));
        Ok(())
    }

    fn remove_vector(&mut self, id: FactId) -> StoreResult<()> {
        self.vectors.remove(&id);
        Ok(())
    }

    fn is_out(&self, person: OptOutMark) -> StoreResult<bool> {
        Ok(self.out.contains(&person))
    }

    fn put_out(&mut self, person: OptOutMark, out: bool) -> StoreResult<()> {
        if out {
            self.out.insert(person);
        } else {
            self.out.remove(&person);
        }
        Ok(())
    }
}
