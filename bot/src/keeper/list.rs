//! What is stored of one person: the list that they can see and download, and that `/forget-me` deletes.
//!
//! It goes by the person's ids and by the names that are theirs alone ([`PersonMatcher`]); `/forget-me` deletes by the same
//! rule. What others said about them is shown if they could have read it; the rest is only counted, and forgotten all the
//! same.

use std::collections::BTreeMap;
use std::sync::Arc;

use aizuchi_core::memory::words::{NameCandidates, NameFinder};
use aizuchi_core::memory::{
    ChannelMemory, Fact, Filter, ME, Origin, Person, PersonMatcher, Remark, Tie, allowed, pairs_of_ties,
};
use aizuchi_core::types::{PersonId, RoomId, Time, Visibility};
use serde::Serialize;

use super::Keeper;
use crate::journal::{Journal, OwnMessage};
use crate::ports::Platform;
use crate::stores::StoreError;

/// Everything that is stored of a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PersonList {
    pub person: Option<Person>,
    /// Facts that rest on their words.
    pub facts: Vec<Fact>,
    /// Facts about them that rest on other people's words.
    pub said_by_others: Vec<Fact>,
    /// What other people's profiles say about them.
    pub notes_on_others: Vec<Remark>,
    pub channels: Vec<ChannelMemory>,
    /// Whom they answer and who answers them, room by room.
    pub ties: Vec<ListedTie>,
    /// Facts under names that may be another person's: they are forgotten once the person confirms the name.
    pub perhaps: Vec<PerhapsNamed>,
    /// How many entries about them are from rooms that they do not read.
    pub elsewhere: usize,
    pub messages: Vec<OwnMessage>,
}

/// How often a person and another answer each other in a room.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedTie {
    pub room: RoomId,
    /// The other's name.
    pub with: Box<str>,
    /// How often the person answered the other, and was answered.
    pub answered: u64,
    pub was_answered: u64,
    pub last: Time,
    pub words: Vec<Box<str>>,
}

/// A fact about somebody under a name that may be this person's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerhapsNamed {
    pub name: Box<str>,
    /// Who else may be meant; `None` if the name may be an ordinary word.
    pub other: Option<Box<str>>,
    pub facts: Vec<Fact>,
}

impl Keeper {
    /// Everything that is stored of a person, including what they said last.
    pub async fn list(&self, ids: &[PersonId], platforms: &[Arc<dyn Platform>]) -> Result<PersonList, StoreError> {
        self.in_time(self.whole_list(ids, platforms)).await
    }

    async fn whole_list(&self, ids: &[PersonId], platforms: &[Arc<dyn Platform>]) -> Result<PersonList, StoreError> {
        self.catch_up().await?;
        let journal = Journal::new(self.stores.clone());
        let (own, others) = journal.names_of(ids, platforms).await?;
        let people = self.memory.people(None).await?;
        let called = self.called(ids, own, others, &people);
        let theirs = PersonMatcher::new(ids, &called.certain);
        let facts = self.memory.facts(Filter::default()).await?;
        let mut person = None;
        for id in ids {
            person = person.or(self.memory.people(Some(id)).await?.pop());
        }
        let readers = readers(ids, person.as_ref(), &facts);
        let reads = |origin: &Origin| readers.iter().any(|reader| allowed(origin, reader, true).is_some());
        let mut list =
            PersonList { person, messages: journal.messages_of(ids, platforms).await?, ..PersonList::default() };
        list.ties = self.listed_ties(ids, &people).await?;
        let mut rooms: Vec<RoomId> = people.iter().flat_map(|person| person.rooms.clone()).collect();
        rooms.extend(facts.iter().map(|fact| fact.origin.room.clone()));
        list.perhaps = perhaps(&called, &theirs, &facts, &reads);
        for fact in facts.into_iter().filter(|fact| theirs.has_fact(fact)) {
            match (theirs.said(&fact), reads(&fact.origin)) {
                (true, _) => list.facts.push(fact),
                (false, true) => list.said_by_others.push(fact),
                (false, false) => list.elsewhere += 1,
            }
        }
        for other in people.iter().filter(|person| !ids.contains(&person.id)) {
            for remark in other.remarks().filter(|remark| theirs.is_named_in(&remark.text)) {
                match reads(&remark.origin) {
                    true => list.notes_on_others.push(remark.clone()),
                    false => list.elsewhere += 1,
                }
            }
        }
        rooms.sort();
        rooms.dedup();
        for room in rooms {
            let Some(channel) = self.memory.channel(&room).await?.0.filter(|channel| theirs.has_channel(channel))
            else {
                continue;
            };
            match reads(&channel.origin) {
                true => list.channels.push(channel),
                false => list.elsewhere += 1,
            }
        }
        Ok(list)
    }

    async fn listed_ties(&self, ids: &[PersonId], people: &[Person]) -> Result<Vec<ListedTie>, StoreError> {
        let mut ties: BTreeMap<(RoomId, PersonId), Vec<Tie>> = BTreeMap::new();
        for id in ids {
            for tie in self.memory.ties(None, Some(id)).await? {
                ties.entry((tie.origin.room.clone(), id.clone())).or_default().push(tie);
            }
        }
        let mut listed = Vec::new();
        for ((room, id), ties) in ties {
            for pair in pairs_of_ties(&ties, Time(0)) {
                let own = usize::from(pair.people[0] != id);
                listed.push(ListedTie {
                    room: room.clone(),
                    with: self.name_of(pair.other_than(&id), people),
                    answered: pair.answers[own],
                    was_answered: pair.answers[1 - own],
                    last: pair.last,
                    words: pair.words,
                });
            }
        }
        Ok(listed)
    }

    /// The name of a person or the bot; the id if no name is known.
    pub fn name_of(&self, id: &PersonId, people: &[Person]) -> Box<str> {
        if id.as_str() == ME {
            return self.policies().general().settings.bot.name.as_str().into();
        }
        people.iter().find(|person| person.id == *id).map_or(id.as_str(), Person::name).into()
    }

    /// A person's names, sorted by whether only they can be meant. `own` and `others` are names that were found elsewhere.
    pub(super) fn called(
        &self,
        ids: &[PersonId],
        own: impl IntoIterator<Item = Box<str>>,
        others: impl IntoIterator<Item = Box<str>>,
        people: &[Person],
    ) -> NameCandidates {
        let (theirs, everybody_else): (Vec<&Person>, Vec<&Person>) =
            people.iter().partition(|person| ids.contains(&person.id));
        let names =
            |people: Vec<&Person>| people.into_iter().flat_map(|person| person.names.clone()).collect::<Vec<_>>();
        let own: Vec<Box<str>> = own.into_iter().chain(names(theirs)).collect();
        let mut others: Vec<Box<str>> = others.into_iter().chain(names(everybody_else)).collect();
        let policies = self.policies();
        let bot = &policies.general().settings.bot;
        others.extend([&bot.name].into_iter().chain(&bot.aliases).map(|name| name.as_str().into()));
        NameCandidates::sorted(own.iter().map(|name| &**name), others.iter().map(|name| &**name).collect::<Vec<_>>())
    }
}

/// The audiences the person belongs to: the rooms they spoke in, with the visibility of what they said there.
fn readers(ids: &[PersonId], person: Option<&Person>, facts: &[Fact]) -> Vec<Origin> {
    let mut readers: Vec<Origin> = Vec::new();
    let rooms = person.into_iter().flat_map(|person| &person.rooms);
    readers.extend(rooms.map(|room| Origin::new(room.as_str(), Visibility::Public)));
    readers.extend(person.into_iter().flat_map(Person::remarks).map(|remark| remark.origin.clone()));
    let own = facts.iter().filter(|fact| fact.people.iter().any(|person| ids.contains(person)));
    readers.extend(own.map(|fact| fact.origin.clone()));
    readers.sort_by(|a, b| a.room.cmp(&b.room));
    readers.dedup();
    readers
}

fn perhaps(
    called: &NameCandidates,
    theirs: &PersonMatcher,
    facts: &[Fact],
    reads: &dyn Fn(&Origin) -> bool,
) -> Vec<PerhapsNamed> {
    let mut named = Vec::new();
    for (name, other) in &called.doubtful {
        let finder = NameFinder::new([name]);
        let speaks = |fact: &&Fact| {
            !theirs.has_fact(fact) && reads(&fact.origin) && fact.texts().any(|text| finder.are_in(text))
        };
        let facts: Vec<Fact> = facts.iter().filter(speaks).cloned().collect();
        if !facts.is_empty() {
            named.push(PerhapsNamed { name: name.clone(), other: other.clone(), facts });
        }
    }
    named
}
