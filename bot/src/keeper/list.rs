//! What is stored of one person: the list that they can see and download, and that `/forget-me` deletes.
//!
//! It goes by the person's ids and by the names that mean only them ([`super::names`]); `/forget-me` deletes by the same
//! rule. What others said about them is shown if they could have read it; the rest is only counted, and forgotten all the
//! same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aizuchi_core::memory::words::NameFinder;
use aizuchi_core::memory::{
    ChannelMemory, Fact, Origin, OwnPart, Person, PersonMatcher, Remark, Tie, allowed, pairs_of_ties,
};
use aizuchi_core::types::{BOT_KEY, MessageId, PersonId, RoomId, Time, Visibility};
use serde::Serialize;

use super::Keeper;
use super::names::{KnownAs, Remembered};
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
    /// What is remembered under names that may be something else: it is forgotten once the person confirms the name.
    pub perhaps: Vec<PerhapsNamed>,
    /// How many entries about them are from rooms that they do not read.
    pub elsewhere: usize,
    pub messages: Vec<OwnMessage>,
}

/// How often a person and another answer each other in a room.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListedTie {
    pub room: RoomId,
    /// The other's name, which is not the person's own data.
    #[serde(skip)]
    pub with: Box<str>,
    /// How often the person answered the other, and was answered.
    pub answered: u64,
    pub was_answered: u64,
    pub last: Time,
    /// Words from the person's own messages.
    pub words: Vec<Box<str>>,
}

/// What is remembered about somebody under a name that may be this person's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PerhapsNamed {
    pub name: Box<str>,
    /// Who else may be meant; `None` if the name may be an ordinary word, or is only a part of theirs.
    pub other: Option<Box<str>>,
    pub facts: Vec<Fact>,
    /// What other people's profiles say.
    pub notes: Vec<Remark>,
    pub channels: Vec<ChannelMemory>,
    /// How many more entries are from rooms that they do not read.
    pub elsewhere: usize,
}

impl PerhapsNamed {
    fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.notes.is_empty() && self.channels.is_empty() && self.elsewhere == 0
    }
}

impl Keeper {
    /// Everything that is stored of a person, including what they said last. Of others' words it has only what was said
    /// about them.
    pub async fn list(&self, ids: &[PersonId], platforms: &[Arc<dyn Platform>]) -> Result<PersonList, StoreError> {
        self.in_time(self.whole_list(ids, platforms)).await
    }

    async fn whole_list(&self, ids: &[PersonId], platforms: &[Arc<dyn Platform>]) -> Result<PersonList, StoreError> {
        self.catch_up().await?;
        let journal = Journal::new(self.stores.clone());
        let remembered = self.remembered().await?;
        let known = self.known_as(ids, &remembered, platforms).await?;
        let theirs = PersonMatcher::new(ids, &known.certain());
        let Remembered { people, facts } = remembered;
        let facts = facts.unwrap_or_default();
        let mut person = None;
        for id in ids {
            person = person.or(self.memory.people(Some(id)).await?.pop());
        }
        let readers = readers(ids, person.as_ref(), &known.scope.rooms, &facts);
        let reads = |origin: &Origin| readers.iter().any(|reader| allowed(origin, reader, true).is_some());
        let messages = journal.messages_of(ids, platforms).await?;
        let said: BTreeSet<(&RoomId, &MessageId)> = messages.iter().map(|said| (&said.room, &said.id)).collect();
        let is_own = |room: &RoomId, message: &MessageId| said.contains(&(room, message));
        let own = OwnPart::new(&theirs, &is_own);
        let mut list = PersonList { person: person.map(|person| own.of_person(person)), ..PersonList::default() };
        list.ties = self.listed_ties(ids, &people, &is_own).await?;
        let channels = self.channels_of(&people, &facts).await?;
        let remarks = people.iter().filter(|person| !ids.contains(&person.id)).flat_map(Person::remarks);
        let remarks: Vec<&Remark> = remarks.collect();
        let of_others = OfOthers { facts: &facts, remarks: &remarks, channels: &channels };
        list.perhaps = of_others.perhaps(&known, &theirs, &reads, own);
        for fact in facts.into_iter().filter(|fact| theirs.has_fact(fact)) {
            match (theirs.is_said_by_them(&fact), reads(&fact.origin)) {
                (true, _) => list.facts.push(own.of_fact(fact)),
                (false, true) => list.said_by_others.push(own.of_fact(fact)),
                (false, false) => list.elsewhere += 1,
            }
        }
        for remark in remarks.into_iter().filter(|remark| theirs.is_named_in(&remark.text, &remark.origin)) {
            match reads(&remark.origin) {
                true => list.notes_on_others.push(own.of_remark(remark.clone())),
                false => list.elsewhere += 1,
            }
        }
        for channel in channels.into_iter().filter(|channel| theirs.has_channel(channel)) {
            match reads(&channel.origin) {
                true => list.channels.push(own.of_channel(channel)),
                false => list.elsewhere += 1,
            }
        }
        list.messages = messages;
        Ok(list)
    }

    /// The summaries of all rooms of which anything else is remembered.
    pub(super) async fn channels_of(
        &self,
        people: &[Person],
        facts: &[Fact],
    ) -> Result<Vec<ChannelMemory>, StoreError> {
        let rooms = people.iter().flat_map(|person| &person.rooms).chain(facts.iter().map(|fact| &fact.origin.room));
        let rooms: BTreeSet<&RoomId> = rooms.collect();
        let mut channels = Vec::new();
        for room in rooms {
            channels.extend(self.memory.channel(room).await?.0);
        }
        Ok(channels)
    }

    async fn listed_ties(
        &self,
        ids: &[PersonId],
        people: &[Person],
        is_own: &(dyn Fn(&RoomId, &MessageId) -> bool + Sync),
    ) -> Result<Vec<ListedTie>, StoreError> {
        let mut ties: BTreeMap<(RoomId, PersonId), Vec<Tie>> = BTreeMap::new();
        for id in ids {
            for mut tie in self.memory.ties(None, Some(id)).await? {
                let room = tie.origin.room.clone();
                tie.words.retain(|word| word.messages.iter().any(|message| is_own(&room, message)));
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
        if id.as_str() == BOT_KEY {
            return self.policies().general().settings.bot.name.as_str().into();
        }
        people.iter().find(|person| person.id == *id).map_or(id.as_str(), Person::name).into()
    }
}

/// The audiences the person belongs to: the rooms they spoke in, with the visibility of what they said there.
fn readers(ids: &[PersonId], person: Option<&Person>, rooms: &[RoomId], facts: &[Fact]) -> Vec<Origin> {
    let mut readers: Vec<Origin> = Vec::new();
    readers.extend(rooms.iter().map(|room| Origin::new(room.as_str(), Visibility::Public)));
    readers.extend(person.into_iter().flat_map(Person::remarks).map(|remark| remark.origin.clone()));
    let own = facts.iter().filter(|fact| fact.people.iter().any(|person| ids.contains(person)));
    readers.extend(own.map(|fact| fact.origin.clone()));
    readers.sort_by(|a, b| a.room.cmp(&b.room));
    readers.dedup();
    readers
}

/// What is remembered, as far as it is not on the person's own profile.
struct OfOthers<'a> {
    facts: &'a [Fact],
    remarks: &'a [&'a Remark],
    channels: &'a [ChannelMemory],
}

impl OfOthers<'_> {
    /// What may be about them, and is not theirs for certain: by their doubtful names, and by the others where it is unclear
    /// whether it is that name.
    fn perhaps(
        &self,
        known: &KnownAs,
        theirs: &PersonMatcher,
        reads: &dyn Fn(&Origin) -> bool,
        own: OwnPart<'_>,
    ) -> Vec<PerhapsNamed> {
        let certain = known.candidates.certain.iter().map(|name| (name, None));
        let doubtful = known.candidates.doubtful.iter().map(|known| (&known.name, known.doubt.other()));
        let named = certain.chain(doubtful).map(|(name, other)| {
            let finder = NameFinder::new([name]);
            let is_here = |origin: &Origin| known.scope.has(origin);
            let mut perhaps = PerhapsNamed { name: name.clone(), other: other.map(Into::into), ..Default::default() };
            for fact in self.facts.iter().filter(|fact| is_here(&fact.origin) && !theirs.has_fact(fact)) {
                match fact.texts().any(|text| finder.may_be_in(text)) {
                    true if reads(&fact.origin) => perhaps.facts.push(own.of_fact(fact.clone())),
                    true => perhaps.elsewhere += 1,
                    false => (),
                }
            }
            for remark in self.remarks.iter().filter(|remark| {
                is_here(&remark.origin)
                    && !theirs.is_named_in(&remark.text, &remark.origin)
                    && finder.may_be_in(&remark.text)
            }) {
                match reads(&remark.origin) {
                    true => perhaps.notes.push(own.of_remark((*remark).clone())),
                    false => perhaps.elsewhere += 1,
                }
            }
            for channel in self.channels.iter().filter(|channel| {
                is_here(&channel.origin)
                    && !theirs.has_channel(channel)
                    && channel.texts().any(|text| finder.may_be_in(text))
            }) {
                match reads(&channel.origin) {
                    true => perhaps.channels.push(own.of_channel(channel.clone())),
                    false => perhaps.elsewhere += 1,
                }
            }
            perhaps
        });
        named.filter(|named| !named.is_empty()).collect()
    }
}
