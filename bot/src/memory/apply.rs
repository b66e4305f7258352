//! What each change of memory does, the same for every store.
//!
//! A store is a [`MemoryTable`]: it gets and puts single items. All rules are here: which layers are kept, who has opted out, that a
//! summary or a reflection counts once (the mark `up_to` of the room only grows, so handling the same records again after a
//! crash changes nothing), that facts which say the same become one, and what goes when a person, a room or a message is
//! forgotten. The caller runs one change in one transaction.

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    Fact, FactDraft, FactId, HeardFrom, Layer, MemoryChange, Note, Origin, Person, PersonMatcher, PersonNames,
    narrower, to_forget, weakest_beyond,
};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time};

use super::table::{MemoryTable, OptOutMark, StoreResult, StoredLayers};

pub fn apply(
    table: &mut dyn MemoryTable,
    kept: StoredLayers,
    change: MemoryChange,
    policies: &Policies,
) -> StoreResult<()> {
    let mut at_work = ChangeApplier { table, kept, policies };
    at_work.change(change)
}

pub(super) struct ChangeApplier<'a> {
    pub(super) table: &'a mut dyn MemoryTable,
    pub(super) kept: StoredLayers,
    policies: &'a Policies,
}

impl ChangeApplier<'_> {
    pub(super) fn change(&mut self, change: MemoryChange) -> StoreResult<()> {
        match change {
            MemoryChange::Summarized(mut channel) if self.kept.has(Layer::Channels) => {
                let room = channel.origin.room.clone();
                let mut marks = self.table.marks(&room)?;
                if channel.up_to <= marks.summarized {
                    return Ok(());
                }
                marks.summarized = channel.up_to;
                self.table.put_marks(&room, marks)?;
                channel.active = self.wanted_people(std::mem::take(&mut channel.active))?;
                self.table.put_channel(&channel)
            }
            MemoryChange::Reflected { origin, up_to, at, facts, people } => {
                self.reflect(&origin, up_to, at, facts, &people)
            }
            MemoryChange::Heard(heard) if self.kept.has(Layer::People) => self.hear(&heard),
            MemoryChange::Answered(answered) => self.answer(&answered),
            MemoryChange::Kept(draft) if self.kept.has(Layer::Facts) => {
                let (room, at) = (draft.origin.room.clone(), draft.at);
                self.keep(*draft)?;
                self.trim(&room, at)
            }
            MemoryChange::Imported(item) => self.import(*item),
            MemoryChange::Used { facts, at } => {
                facts.into_iter().try_for_each(|fact| self.with_fact(fact, |fact| fact.use_at(at)))
            }
            MemoryChange::Told { fact, room, at } => self.with_fact(fact, |fact| {
                fact.use_at(at);
                if !fact.told_in.contains(&room) {
                    fact.told_in.push(room.clone());
                }
            }),
            MemoryChange::Edited { fact, content, keywords } => self.edit(fact, &content, &keywords),
            MemoryChange::Pinned { fact, pinned } => self.with_fact(fact, |fact| fact.pinned = pinned),
            MemoryChange::Forgotten { fact } => self.forget_fact(fact),
            MemoryChange::Embedded { fact, content, model, vector } => match self.table.fact(fact)? {
                Some(fact) if fact.content == content => self.table.put_vector(&fact, &model, &vector),
                _ => Ok(()),
            },
            MemoryChange::MessageGone { ref room, ref message } => self.message_gone(&change, room, message),
            MemoryChange::Narrowed { ref origin } => self.narrow(&change, origin),
            MemoryChange::PersonForgotten { person, names, rooms } => self.forget_person(&person, names, rooms),
            MemoryChange::RoomForgotten { ref room } => self.forget_room(&change, room),
            MemoryChange::OptedOut { person, out } => {
                self.table.put_out(OptOutMark::from(&person), out)?;
                // Which names mean them is no matter of one store: who opts out is forgotten by name before.
                if out { self.forget_person(&person, PersonNames::default(), Vec::new()) } else { Ok(()) }
            }
            MemoryChange::Faded { at } => {
                self.table.upgrade()?;
                self.fade_ties(at)?;
                let rooms = self.table.rooms_with_facts()?;
                rooms.iter().try_for_each(|room| self.fade(room, at))
            }
            // Kept elsewhere.
            MemoryChange::Summarized(_) | MemoryChange::Heard(_) | MemoryChange::Kept(_) => Ok(()),
        }
    }

    fn edit(&mut self, fact: FactId, content: &str, keywords: &[Box<str>]) -> StoreResult<()> {
        self.table.remove_vector(fact)?;
        self.with_fact(fact, |fact| {
            fact.edit(content.into(), keywords.to_vec());
        })
    }

    fn forget_fact(&mut self, fact: FactId) -> StoreResult<()> {
        let Some(known) = self.table.fact(fact)? else { return Ok(()) };
        self.table.remove_fact(fact)?;
        let left = self.table.facts_of_room(&known.origin.room)?;
        self.restore_former(&[fact], left)
    }

    pub(super) fn is_out(&self, person: &PersonId) -> StoreResult<bool> {
        self.table.is_out(OptOutMark::from(person))
    }

    fn reflect(
        &mut self,
        origin: &Origin,
        up_to: u64,
        at: Time,
        facts: Vec<FactDraft>,
        people: &[Note],
    ) -> StoreResult<()> {
        let mut marks = self.table.marks(&origin.room)?;
        if up_to <= marks.reflected {
            return Ok(());
        }
        marks.reflected = up_to;
        self.table.put_marks(&origin.room, marks)?;
        if self.kept.has(Layer::Facts) {
            facts.into_iter().try_for_each(|draft| self.keep(draft))?;
            self.trim(&origin.room, at)?;
        }
        if self.kept.has(Layer::People) {
            for note in people {
                if !self.is_out(&note.person)? {
                    let known = self.table.person(&note.person)?;
                    let mut person = known.unwrap_or_else(|| Person::new(note.person.clone(), at));
                    person.note(note, origin, at);
                    self.table.put_person(&person)?;
                }
            }
        }
        Ok(())
    }

    fn hear(&mut self, heard: &HeardFrom) -> StoreResult<()> {
        let mut marks = self.table.marks(&heard.origin.room)?;
        if heard.up_to <= marks.heard {
            return Ok(());
        }
        marks.heard = heard.up_to;
        self.table.put_marks(&heard.origin.room, marks)?;
        if self.is_out(&heard.person)? {
            return Ok(());
        }
        let known = self.table.person(&heard.person)?;
        let mut person = known.unwrap_or_else(|| Person::new(heard.person.clone(), heard.at));
        person.hear(heard);
        self.table.put_person(&person)
    }

    /// Deletes the weakest facts beyond what a room may keep. `at` is the time of a message, which a clock that is years ahead
    /// may have set: facts that are too weak are deleted when they fade, by a clock that is checked.
    fn trim(&mut self, room: &RoomId, at: Time) -> StoreResult<()> {
        let memory = &self.policies.for_room(room.as_str()).settings.memory;
        let (facts_max, half_life_days) = (memory.facts_max, memory.facts_half_life_days);
        if self.table.count_facts(room)? <= facts_max {
            return Ok(());
        }
        let facts = self.table.facts_of_room(room)?;
        let gone = weakest_beyond(&facts, at, facts_max, half_life_days);
        self.drop_beyond_max(room, facts.len(), &gone)
    }

    /// Deletes facts that are too weak, and the weakest beyond what a room may keep.
    fn fade(&mut self, room: &RoomId, at: Time) -> StoreResult<()> {
        let memory = &self.policies.for_room(room.as_str()).settings.memory;
        let (facts_max, half_life_days) = (memory.facts_max, memory.facts_half_life_days);
        let facts = self.table.facts_of_room(room)?;
        let gone = to_forget(&facts, at, facts_max, half_life_days);
        gone.weak.iter().try_for_each(|id| self.table.remove_fact(*id))?;
        self.drop_beyond_max(room, facts.len(), &gone.beyond_max)
    }

    /// This is a loss that somebody may want to prevent.
    fn drop_beyond_max(&mut self, room: &RoomId, facts: usize, gone: &[FactId]) -> StoreResult<()> {
        if gone.is_empty() {
            return Ok(());
        }
        let facts_max = self.policies.for_room(room.as_str()).settings.memory.facts_max;
        let (first, last) = (gone.iter().min(), gone.iter().max());
        tracing::warn!(
            %room,
            facts,
            facts_max,
            dropped = gone.len(),
            first = first.map(|id| id.0),
            last = last.map(|id| id.0),
            "a room has more facts than memory.facts_max: dropping the weakest; raise memory.facts_max to keep them"
        );
        gone.iter().try_for_each(|id| self.table.remove_fact(*id))
    }

    pub(super) fn with_fact(&mut self, id: FactId, mut work: impl FnMut(&mut Fact)) -> StoreResult<()> {
        let Some(mut fact) = self.table.fact(id)? else { return Ok(()) };
        work(&mut fact);
        self.table.put_fact(&fact)
    }

    fn message_gone(&mut self, change: &MemoryChange, room: &RoomId, message: &MessageId) -> StoreResult<()> {
        let mut gone = Vec::new();
        for mut fact in self.table.facts_resting_on(room, message)? {
            let before = fact.meaning();
            if !fact.lose_message(message) {
                self.table.remove_fact(fact.id)?;
                gone.push(fact.id);
                continue;
            }
            if fact.meaning() != before {
                self.table.remove_vector(fact.id)?;
            }
            self.table.put_fact(&fact)?;
        }
        if !gone.is_empty() {
            let left = self.table.facts_of_room(room)?;
            self.restore_former(&gone, left)?;
        }
        if let Some(mut channel) = self.table.channel(room)?.filter(|channel| channel.may_rest_on(message)) {
            channel.clear();
            self.table.put_channel(&channel)?;
        }
        for mut person in self.table.people_resting_on(room, message)? {
            if person.apply(change) {
                self.table.put_person(&person)?;
            }
        }
        self.tie_message_gone(change, room, message)
    }

    fn narrow(&mut self, change: &MemoryChange, origin: &Origin) -> StoreResult<()> {
        for mut fact in self.table.facts_of_room(&origin.room)? {
            fact.origin.visibility = narrower(fact.origin.visibility, origin.visibility);
            self.table.put_fact(&fact)?;
        }
        if let Some(mut channel) = self.table.channel(&origin.room)? {
            channel.origin.visibility = narrower(channel.origin.visibility, origin.visibility);
            self.table.put_channel(&channel)?;
        }
        self.narrow_ties(change, &origin.room)?;
        for mut person in self.table.people()? {
            if person.apply(change) {
                self.table.put_person(&person)?;
            }
        }
        Ok(())
    }

    fn forget_person(&mut self, id: &PersonId, mut names: PersonNames, mut rooms: Vec<RoomId>) -> StoreResult<()> {
        let known = self.table.person(id)?;
        rooms.extend(known.iter().flat_map(|person| person.rooms.clone()));
        names.scope.extend(rooms.iter().cloned());
        let theirs = PersonMatcher::new(std::slice::from_ref(id), &names);
        let mut gone = Vec::new();
        // The facts are checked one by one, since a word index may have split a name where the text did not.
        for mut fact in self.table.facts()? {
            let before = fact.meaning();
            if theirs.has_fact(&fact) {
                if !theirs.take_from(&mut fact) {
                    self.table.remove_fact(fact.id)?;
                    gone.push(fact.id);
                    continue;
                }
                let origin = fact.origin.clone();
                fact.forget_turns(|turn| theirs.is_in_turn(turn, &origin));
                if fact.meaning() != before {
                    self.table.remove_vector(fact.id)?;
                }
                self.table.put_fact(&fact)?;
            } else {
                let origin = fact.origin.clone();
                if fact.forget_turns(|turn| theirs.is_in_turn(turn, &origin)) {
                    self.table.put_fact(&fact)?;
                }
            }
        }
        if !gone.is_empty() {
            let left = self.table.facts()?;
            self.restore_former(&gone, left)?;
        }
        for mut channel in self.table.channels()? {
            if rooms.contains(&channel.origin.room) || theirs.has_channel(&channel) {
                channel.clear();
                self.table.put_channel(&channel)?;
            }
        }
        self.table.remove_person(id)?;
        self.untie_person(id, &theirs)?;
        let names = known.map(|person| person.names).unwrap_or_default();
        for mut person in self.table.people()? {
            let unmentioned = person.unmention(id, &|remark| theirs.is_named_in(&remark.text, &remark.origin));
            if person.share_names(&names) || unmentioned {
                self.table.put_person(&person)?;
            }
        }
        Ok(())
    }

    fn forget_room(&mut self, change: &MemoryChange, room: &RoomId) -> StoreResult<()> {
        for mut fact in self.table.facts()? {
            if fact.origin.room == *room {
                self.table.remove_fact(fact.id)?;
            } else if fact.told_in.contains(room) {
                fact.told_in.retain(|told| told != room);
                self.table.put_fact(&fact)?;
            }
        }
        self.table.remove_channel(room)?;
        self.untie_room(room)?;
        for mut person in self.table.people()? {
            if person.apply(change) {
                self.table.put_person(&person)?;
            }
        }
        Ok(())
    }
}
