//! What each change means, the same for every store.

use aizuchi_core::Policies;
use aizuchi_core::memory::words::{Called, NameFinder};
use aizuchi_core::memory::{
    Change, Draft, Fact, Heard, Item, Layer, Meeting, Note, Origin, Person, meet, narrower, to_forget,
};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time};

use super::shelf::{Kept, Mark, Shelf, Shelved};

pub fn apply(shelf: &mut dyn Shelf, kept: Kept, change: Change, policies: &Policies) -> Shelved<()> {
    let mut at_work = AtWork { shelf, kept, policies };
    at_work.change(change)
}

struct AtWork<'a> {
    shelf: &'a mut dyn Shelf,
    kept: Kept,
    policies: &'a Policies,
}

impl AtWork<'_> {
    fn change(&mut self, change: Change) -> Shelved<()> {
        match change {
            Change::Summarized(mut channel) if self.kept.has(Layer::Channels) => {
                let room = channel.origin.room.clone();
                let mut marks = self.shelf.marks(&room)?;
                if channel.up_to <= marks.summarized {
                    return Ok(());
                }
                marks.summarized = channel.up_to;
                self.shelf.put_marks(&room, marks)?;
                let mut active = Vec::new();
                for (person, name) in std::mem::take(&mut channel.active) {
                    if !self.is_out(&person)? {
                        active.push((person, name));
                    }
                }
                channel.active = active;
                self.shelf.put_channel(&channel)
            }
            Change::Reflected { origin, up_to, at, facts, people } => self.reflect(&origin, up_to, at, facts, &people),
            Change::Heard(heard) if self.kept.has(Layer::People) => self.hear(&heard),
            Change::Kept(draft) if self.kept.has(Layer::Facts) => {
                let (room, at) = (draft.origin.room.clone(), draft.at);
                self.keep(*draft)?;
                self.trim(&room, at)
            }
            Change::Imported(item) => self.import(*item),
            Change::Used { facts, at } => {
                facts.into_iter().try_for_each(|fact| self.with_fact(fact, |fact| fact.use_at(at)))
            }
            Change::Told { fact, room, at } => self.with_fact(fact, |fact| {
                fact.use_at(at);
                if !fact.told_in.contains(&room) {
                    fact.told_in.push(room.clone());
                }
            }),
            Change::Edited { fact, content, keywords } => {
                self.shelf.remove_vector(fact)?;
                self.with_fact(fact, |fact| {
                    fact.content = content.clone();
                    fact.keywords = keywords.clone();
                })
            }
            Change::Pinned { fact, pinned } => self.with_fact(fact, |fact| fact.pinned = pinned),
            Change::Forgotten { fact } => self.shelf.remove_fact(fact),
            Change::Embedded { fact, content, model, vector } => match self.shelf.fact(fact)? {
                Some(fact) if fact.content == content => self.shelf.put_vector(&fact, &model, &vector),
                _ => Ok(()),
            },
            Change::MessageGone { ref room, ref message } => self.message_gone(&change, room, message),
            Change::Narrowed { ref origin } => self.narrow(&change, origin),
            Change::PersonForgotten { person, names, rooms } => self.forget_person(&person, &names, rooms),
            Change::RoomForgotten { ref room } => self.forget_room(&change, room),
            Change::OptedOut { person, out } => {
                self.shelf.put_out(Mark::from(&person), out)?;
                if !out {
                    return Ok(());
                }
                let names = self.certain_names(&person)?;
                self.forget_person(&person, &names, Vec::new())
            }
            Change::Faded { at } => {
                let mut rooms: Vec<RoomId> = self.shelf.facts()?.into_iter().map(|fact| fact.origin.room).collect();
                rooms.sort();
                rooms.dedup();
                rooms.iter().try_for_each(|room| self.trim(room, at))
            }
            // Kept elsewhere.
            Change::Summarized(_) | Change::Heard(_) | Change::Kept(_) => Ok(()),
        }
    }

    fn is_out(&self, person: &PersonId) -> Shelved<bool> {
        self.shelf.is_out(Mark::from(person))
    }

    fn reflect(&mut self, origin: &Origin, up_to: u64, at: Time, facts: Vec<Draft>, people: &[Note]) -> Shelved<()> {
        let mut marks = self.shelf.marks(&origin.room)?;
        if up_to <= marks.reflected {
            return Ok(());
        }
        marks.reflected = up_to;
        self.shelf.put_marks(&origin.room, marks)?;
        if self.kept.has(Layer::Facts) {
            facts.into_iter().try_for_each(|draft| self.keep(draft))?;
            self.trim(&origin.room, at)?;
        }
        if self.kept.has(Layer::People) {
            for note in people {
                if !self.is_out(&note.person)? {
                    let known = self.shelf.person(&note.person)?;
                    let mut person = known.unwrap_or_else(|| Person::new(note.person.clone(), at));
                    person.note(note, origin, at);
                    self.shelf.put_person(&person)?;
                }
            }
        }
        Ok(())
    }

    fn hear(&mut self, heard: &Heard) -> Shelved<()> {
        let mut marks = self.shelf.marks(&heard.origin.room)?;
        if heard.up_to <= marks.heard {
            return Ok(());
        }
        marks.heard = heard.up_to;
        self.shelf.put_marks(&heard.origin.room, marks)?;
        if self.is_out(&heard.person)? {
            return Ok(());
        }
        let known = self.shelf.person(&heard.person)?;
        let mut person = known.unwrap_or_else(|| Person::new(heard.person.clone(), heard.at));
        person.hear(heard);
        self.shelf.put_person(&person)
    }

    fn keep(&mut self, mut draft: Draft) -> Shelved<()> {
        draft.confidence = if draft.confidence.is_finite() { draft.confidence.clamp(0.0, 1.0) } else { 0.0 };
        if self.is_unwelcome(&draft)? {
            return Ok(());
        }
        let known = self.shelf.facts_of_room(&draft.origin.room)?;
        match meet(known.iter(), &draft) {
            Meeting::New => self.keep_new(draft),
            Meeting::Same(id) => self.with_fact(id, |fact| fact.absorb(draft.clone())),
            Meeting::Replaces(id) => {
                self.shelf.remove_fact(id)?;
                self.keep_new(draft)
            }
        }
    }

    fn import(&mut self, item: Item) -> Shelved<()> {
        match item {
            Item::Fact(fact) if self.kept.has(Layer::Facts) => {
                let known = self.shelf.facts_of_room(&fact.origin.room)?;
                let draft = Draft::from(fact.clone());
                if meet(known.iter(), &draft) != Meeting::New || self.is_unwelcome(&draft)? {
                    return self.keep(draft);
                }
                let id = self.shelf.new_fact()?;
                self.shelf.put_fact(&Fact { id, ..fact })
            }
            Item::Person(person) if self.kept.has(Layer::People) => {
                let known = self.shelf.person(&person.id)?.is_some() || self.is_out(&person.id)?;
                match person.opted_out {
                    true => self.change(Change::OptedOut { person: person.id, out: true }),
                    false if known => Ok(()),
                    false => self.shelf.put_person(&person),
                }
            }
            Item::Channel(channel) if self.kept.has(Layer::Channels) => {
                // Its marks are those of another journal: here its records are yet to be read.
                let known = self.shelf.channel(&channel.origin.room)?;
                if known.is_some_and(|known| !known.is_empty()) { Ok(()) } else { self.shelf.put_channel(&channel) }
            }
            Item::Fact(_) | Item::Person(_) | Item::Channel(_) => Ok(()),
        }
    }

    fn is_unwelcome(&self, draft: &Draft) -> Shelved<bool> {
        for person in &draft.people {
            if self.is_out(person)? {
                return Ok(true);
            }
        }
        Ok(draft.content.trim().is_empty())
    }

    fn keep_new(&mut self, draft: Draft) -> Shelved<()> {
        let id = self.shelf.new_fact()?;
        self.shelf.put_fact(&draft.keep(id))
    }

    /// Lets go of what is too weak, and of the weakest beyond what a room may keep.
    fn trim(&mut self, room: &RoomId, at: Time) -> Shelved<()> {
        let memory = &self.policies.for_room(room.as_str()).settings.memory;
        let facts = self.shelf.facts_of_room(room)?;
        let gone = to_forget(&facts, at, memory.facts_max, memory.facts_half_life_days);
        gone.into_iter().try_for_each(|id| self.shelf.remove_fact(id))
    }

    fn with_fact(&mut self, id: aizuchi_core::memory::FactId, mut work: impl FnMut(&mut Fact)) -> Shelved<()> {
        let Some(mut fact) = self.shelf.fact(id)? else { return Ok(()) };
        work(&mut fact);
        self.shelf.put_fact(&fact)
    }

    fn message_gone(&mut self, change: &Change, room: &RoomId, message: &MessageId) -> Shelved<()> {
        for mut fact in self.shelf.facts_resting_on(room, message)? {
            fact.messages.retain(|of| of != message);
            if fact.messages.is_empty() {
                self.shelf.remove_fact(fact.id)?;
            } else {
                self.shelf.put_fact(&fact)?;
            }
        }
        if let Some(mut channel) = self.shelf.channel(room)?.filter(|channel| channel.may_rest_on(message)) {
            channel.clear();
            self.shelf.put_channel(&channel)?;
        }
        for mut person in self.shelf.people_resting_on(room, message)? {
            if person.follow(change) {
                self.shelf.put_person(&person)?;
            }
        }
        Ok(())
    }

    fn narrow(&mut self, change: &Change, origin: &Origin) -> Shelved<()> {
        for mut fact in self.shelf.facts_of_room(&origin.room)? {
            fact.origin.visibility = narrower(fact.origin.visibility, origin.visibility);
            self.shelf.put_fact(&fact)?;
        }
        if let Some(mut channel) = self.shelf.channel(&origin.room)? {
            channel.origin.visibility = narrower(channel.origin.visibility, origin.visibility);
            self.shelf.put_channel(&channel)?;
        }
        for mut person in self.shelf.people()? {
            if person.follow(change) {
                self.shelf.put_person(&person)?;
            }
        }
        Ok(())
    }

    /// What they are called and nobody else who is known.
    fn certain_names(&self, id: &PersonId) -> Shelved<Vec<Box<str>>> {
        let known = self.shelf.person(id)?.map(|person| person.names).unwrap_or_default();
        let others: Vec<Person> = self.shelf.people()?.into_iter().filter(|person| person.id != *id).collect();
        let others = others.iter().flat_map(|person| &person.names).map(|name| &**name);
        Ok(Called::sorted(known.iter().map(|name| &**name), others).certain)
    }

    fn forget_person(&mut self, id: &PersonId, names: &[Box<str>], mut rooms: Vec<RoomId>) -> Shelved<()> {
        if let Some(person) = self.shelf.person(id)? {
            rooms.extend(person.rooms);
        }
        let names = NameFinder::new(names);
        let speaks = |text: &str| text.contains(id.as_str()) || names.are_in(text);
        for fact in self.shelf.facts_of_person(id)? {
            self.shelf.remove_fact(fact.id)?;
        }
        // Looked through one by one: a word index may have cut a name where the text was not.
        for fact in self.shelf.facts()? {
            if speaks(&fact.content) || fact.keywords.iter().any(|keyword| speaks(keyword)) {
                self.shelf.remove_fact(fact.id)?;
            }
        }
        for mut channel in self.shelf.channels()? {
            let was_there = rooms.contains(&channel.origin.room) || channel.active.iter().any(|(of, _)| of == id);
            let told = || [&channel.summary, &channel.mood].into_iter().chain(&channel.topics).any(|text| speaks(text));
            if was_there || told() {
                channel.clear();
                self.shelf.put_channel(&channel)?;
            }
        }
        self.shelf.remove_person(id)?;
        for mut person in self.shelf.people()? {
            if person.unmention(&speaks) {
                self.shelf.put_person(&person)?;
            }
        }
        Ok(())
    }

    fn forget_room(&mut self, change: &Change, room: &RoomId) -> Shelved<()> {
        for mut fact in self.shelf.facts()? {
            if fact.origin.room == *room {
                self.shelf.remove_fact(fact.id)?;
            } else if fact.told_in.contains(room) {
                fact.told_in.retain(|told| told != room);
                self.shelf.put_fact(&fact)?;
            }
        }
        self.shelf.remove_channel(room)?;
        for mut person in self.shelf.people()? {
            if person.follow(change) {
                self.shelf.put_person(&person)?;
            }
        }
        Ok(())
    }
}
