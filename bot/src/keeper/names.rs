//! By which names a person is known, and where these count: one rule for what they are shown, for `/forget-me` and for
//! `/opt-out`.
//!
//! A name decides alone only on the servers on which the person has spoken, and only if somebody else called them by it
//! there, nobody else has it, and it was not in use before them. What is uncertain is asked about.

use std::sync::Arc;

use aizuchi_core::memory::words::{
    DoubtfulName, NameCandidates, NameDoubt, NameEvidence, NameFinder, bare_name, names_a_thing,
};
use aizuchi_core::memory::{
    ChannelMemory, Fact, Filter, ForgetRequest, NameScope, Origin, Person, PersonMatcher, PersonNames, home,
};
use aizuchi_core::types::{PersonId, Time};

use super::Keeper;
use crate::journal::{Journal, NameUse};
use crate::ports::Platform;
use crate::stores::StoreError;

/// What memory has of everybody. Without the facts nobody can tell what a name is used for.
#[derive(Default)]
pub(super) struct Remembered {
    pub people: Vec<Person>,
    pub facts: Option<Vec<Fact>>,
}

/// A person's names.
pub(super) struct KnownAs {
    pub candidates: NameCandidates,
    /// What everybody else is called, also the bot.
    pub others: Vec<Box<str>>,
    pub scope: NameScope,
}

impl KnownAs {
    /// The names that mean only them.
    pub fn certain(&self) -> PersonNames {
        PersonNames { certain: self.candidates.certain.clone(), confirmed: Vec::new(), scope: self.scope.clone() }
    }
}

impl Keeper {
    pub(super) async fn remembered(&self) -> Result<Remembered, StoreError> {
        let (people, facts) = (self.memory.people(None).await?, self.memory.facts(Filter::default()).await?);
        Ok(Remembered { people, facts: Some(facts) })
    }

    pub(super) async fn known_as(
        &self,
        ids: &[PersonId],
        remembered: &Remembered,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<KnownAs, StoreError> {
        let journal = Journal::new(self.stores.clone());
        let (mut own, others) = journal.names_of(ids, platforms).await?;
        let is_theirs = |person: &&Person| ids.contains(&person.id);
        let (theirs, everybody_else): (Vec<&Person>, Vec<&Person>) = remembered.people.iter().partition(is_theirs);
        own.extend(theirs.iter().flat_map(|person| person.names.clone()));
        let bots = self.names_of_bot();
        let others = others.into_iter().chain(everybody_else.iter().flat_map(|person| person.names.clone()));
        let shared = theirs.iter().flat_map(|person| person.shared_names.clone());
        let others: Vec<Box<str>> = others.chain(shared).chain(bots.iter().cloned()).collect();
        let names = own.iter().map(|name| &**name);
        let mut candidates = NameCandidates::sorted(names, others.iter().map(|name| &**name));
        // The bot's names mean the bot, also when a person has taken one.
        let is_bots = |name: &str| bots.iter().any(|bot| bare_name(bot) == bare_name(name));
        candidates.certain.retain(|name| !is_bots(name));
        candidates.doubtful.retain(|known| !is_bots(&known.name));
        let all: Vec<Box<str>> = candidates.all().map(Into::into).collect();
        let mut used = journal.name_use(ids, &all, platforms).await?;
        theirs.iter().for_each(|person| used.add_profile(&person.names, &person.rooms, person.first_seen));
        let scope = NameScope { rooms: used.rooms.iter().cloned().collect(), homes: Vec::new() };
        let used_otherwise = remembered.facts.as_ref().map(|facts| {
            let texts = Texts { facts, people: &everybody_else, scope: &scope };
            texts.used_otherwise(ids, &all, &used)
        });
        let candidates = candidates.weighed(&NameEvidence {
            is_tied: &|name| used_otherwise.is_some() && used.is_tied(name),
            is_used_otherwise: &|name| used_otherwise.as_ref().is_some_and(|used| used.iter().any(|of| **of == *name)),
        });
        Ok(KnownAs { candidates, others, scope })
    }

    /// What people call the bot.
    fn names_of_bot(&self) -> Vec<Box<str>> {
        let policies = self.policies();
        let bot = &policies.general().settings.bot;
        let named = [&bot.name].into_iter().chain(&bot.aliases).map(|name| name.as_str().into());
        named.chain(["aizuchi", "相槌", "あいづち"].map(Into::into)).collect()
    }

    /// Those of the names by which something is left that the request does not delete: what the bot said, and what is
    /// remembered.
    pub(super) async fn names_left(
        &self,
        request: &ForgetRequest,
        doubtful: Vec<DoubtfulName>,
        remembered: &Remembered,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<DoubtfulName>, StoreError> {
        let asked = with_unclear(request, doubtful);
        if asked.is_empty() {
            return Ok(asked);
        }
        let names = asked.iter().map(|known| known.name.clone()).collect();
        let said = Journal::new(self.stores.clone()).names_it_used(names, request, platforms).await?;
        let left = self.names_remembered(request, asked.clone(), remembered).await?;
        Ok(asked.into_iter().filter(|known| said.contains(&known.name) || left.contains(known)).collect())
    }

    /// The same of what is remembered.
    pub(super) async fn names_remembered(
        &self,
        request: &ForgetRequest,
        doubtful: Vec<DoubtfulName>,
        remembered: &Remembered,
    ) -> Result<Vec<DoubtfulName>, StoreError> {
        let mut asked = with_unclear(request, doubtful);
        if asked.is_empty() {
            return Ok(asked);
        }
        let facts = remembered.facts.as_deref().unwrap_or_default();
        let channels = self.channels_of(&remembered.people, facts).await?;
        let names = request.person_names();
        let theirs = PersonMatcher::new(&request.ids, &names);
        let others = remembered.people.iter().filter(|person| !request.is_of(&person.id));
        let in_facts = facts.iter().filter(|fact| names.scope.has(&fact.origin) && !theirs.has_fact(fact));
        let in_remarks = others
            .flat_map(Person::remarks)
            .filter(|remark| names.scope.has(&remark.origin) && !theirs.is_named_in(&remark.text, &remark.origin));
        let in_channels = channels.iter().filter(|channel| {
            let is_cleared = request.rooms.contains(&channel.origin.room) || theirs.has_channel(channel);
            names.scope.has(&channel.origin) && !is_cleared
        });
        let texts = in_facts.flat_map(Fact::texts).chain(in_remarks.map(|remark| &*remark.text));
        let texts: Vec<&str> = texts.chain(in_channels.flat_map(ChannelMemory::texts)).collect();
        asked.retain(|known| {
            let finder = NameFinder::new([&known.name]);
            texts.iter().any(|text| finder.may_be_in(text))
        });
        Ok(asked)
    }
}

/// A name that means only them is asked about too, where it is unclear whether it is that name. Where words are separated by
/// spaces it never is.
fn with_unclear(request: &ForgetRequest, doubtful: Vec<DoubtfulName>) -> Vec<DoubtfulName> {
    let is_new = |known: &DoubtfulName| doubtful.iter().all(|of| of.name != known.name);
    let unspaced = request.names.iter().filter(|name| !name.is_ascii());
    let unclear = unspaced.map(|name| DoubtfulName { name: name.clone(), doubt: NameDoubt::Untied });
    let unclear: Vec<DoubtfulName> = unclear.filter(is_new).collect();
    unclear.into_iter().chain(doubtful).collect()
}

/// What is remembered of others where the person has spoken.
struct Texts<'a> {
    facts: &'a [Fact],
    people: &'a [&'a Person],
    scope: &'a NameScope,
}

impl Texts<'_> {
    /// The names that others used before the person had them, or that they use for a thing.
    fn used_otherwise(&self, ids: &[PersonId], names: &[Box<str>], used: &NameUse) -> Vec<Box<str>> {
        let any = NameFinder::new(names);
        let mut found: Vec<Box<str>> = Vec::new();
        let mut look = |text: &str, origin: &Origin, at: Time| {
            if !self.scope.has(origin) || !any.are_in(text) {
                return;
            }
            for name in names.iter().filter(|name| NameFinder::new([name]).are_in(text)) {
                let is_older = used.since(name, home(&origin.room)).is_none_or(|since| at < since);
                if (is_older || names_a_thing(text, name)) && !found.contains(name) {
                    found.push(name.clone());
                }
            }
        };
        for fact in self.facts.iter().filter(|fact| !fact.people.iter().any(|person| ids.contains(person))) {
            fact.texts().for_each(|text| look(text, &fact.origin, fact.said_at()));
        }
        for remark in self.people.iter().flat_map(|person| person.remarks()) {
            look(&remark.text, &remark.origin, remark.at);
        }
        found
    }
}
