//! Each layer in the store that the settings choose for it.

use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::memory::words::Called;
use aizuchi_core::memory::{About, Change, ChannelMemory, Fact, Filter, Item, Marks, Person, Query, Recalled};
use aizuchi_core::settings::{MemorySettings, Store};
use aizuchi_core::types::{PersonId, RoomId};

use super::shelf::Kept;
use super::{Local, Ram};
use crate::ports::{Doing, Memory};
use crate::stores::{Database, StoreError};

/// What is kept on disk, as the settings that hold for all rooms have it. `Err` names a store that there is not.
pub fn check(settings: &MemorySettings) -> Result<Kept, String> {
    let local = |key: &str, store: Store| match store {
        Store::Memory => Ok(false),
        Store::Local => Ok(true),
        Store::Firestore => {
            Err(format!("memory.{key} is \"firestore\", which this program does not have; use \"local\""))
        }
    };
    Ok(Kept {
        channels: local("channel_context_store", settings.channel_context_store)?,
        people: local("profiles_store", settings.profiles_store)?,
        facts: local("facts_store", settings.facts_store)?,
    })
}

/// Where memory is kept. `Err` as with [`check`].
pub fn open(settings: &MemorySettings, database: &Database) -> Result<Arc<dyn Memory>, String> {
    let on_disk = check(settings)?;
    let in_ram = Kept { channels: !on_disk.channels, people: !on_disk.people, facts: !on_disk.facts };
    // Who wishes not to be remembered is known on disk in any case: a restart must not forget that.
    let local: Arc<dyn Memory> = Arc::new(Local::new(database.clone(), on_disk));
    Ok(match on_disk {
        Kept::ALL => local,
        on_disk => Arc::new(Layered { local, ram: Arc::new(Ram::new(in_ram)), on_disk }),
    })
}

struct Layered {
    local: Arc<dyn Memory>,
    ram: Arc<dyn Memory>,
    on_disk: Kept,
}

impl Layered {
    fn of(&self, on_disk: bool) -> &dyn Memory {
        if on_disk { &*self.local } else { &*self.ram }
    }

    /// A person is forgotten in all rooms that any layer knows of.
    async fn complete(&self, mut changes: Vec<Change>) -> Result<Vec<Change>, StoreError> {
        let mut added = Vec::new();
        for change in &mut changes {
            match change {
                Change::PersonForgotten { person, rooms, .. } => {
                    for known in self.people(Some(person)).await? {
                        rooms.extend(known.rooms);
                    }
                }
                Change::OptedOut { person, out: true } => {
                    let known =
                        self.people(Some(person)).await?.pop().unwrap_or_else(|| Person::opted_out(person.clone()));
                    let others = self.people(None).await?;
                    let others = others.iter().filter(|other| other.id != *person).flat_map(|other| &other.names);
                    let names = known.names.iter().map(|name| &**name);
                    let names = Called::sorted(names, others.map(|name| &**name).collect::<Vec<_>>()).certain;
                    added.push(Change::PersonForgotten { person: person.clone(), names, rooms: known.rooms });
                }
                Change::Summarized(_)
                | Change::Reflected { .. }
                | Change::Heard(_)
                | Change::Kept(_)
                | Change::Imported(_)
                | Change::Used { .. }
                | Change::Told { .. }
                | Change::Edited { .. }
                | Change::Pinned { .. }
                | Change::Forgotten { .. }
                | Change::Embedded { .. }
                | Change::MessageGone { .. }
                | Change::Narrowed { .. }
                | Change::RoomForgotten { .. }
                | Change::OptedOut { .. }
                | Change::Faded { .. } => (),
            }
        }
        changes.extend(added);
        Ok(changes)
    }

    /// Who of those concerned wishes not to be remembered: the disk knows, and what is in memory has to be told.
    async fn opted_out(&self, changes: &[Change]) -> Result<Vec<Change>, StoreError> {
        let mut out = Vec::new();
        let mut people: Vec<&PersonId> = changes.iter().flat_map(concerned).collect();
        people.sort();
        people.dedup();
        for person in people {
            if self.local.people(Some(person)).await?.iter().any(|known| known.opted_out) {
                out.push(Change::OptedOut { person: person.clone(), out: true });
            }
        }
        Ok(out)
    }
}

/// The people that a change would remember something of.
fn concerned(change: &Change) -> Vec<&PersonId> {
    match change {
        Change::Summarized(channel) => channel.active.iter().map(|(person, _)| person).collect(),
        Change::Reflected { facts, people, .. } => {
            let noted = people.iter().map(|note| &note.person);
            facts.iter().flat_map(|draft| &draft.people).chain(noted).collect()
        }
        Change::Heard(heard) => vec![&heard.person],
        Change::Imported(item) => match &**item {
            Item::Fact(fact) => fact.people.iter().collect(),
            Item::Person(person) => vec![&person.id],
            Item::Channel(channel) => channel.active.iter().map(|(person, _)| person).collect(),
        },
        Change::Kept(draft) => draft.people.iter().collect(),
        Change::Used { .. }
        | Change::Told { .. }
        | Change::Edited { .. }
        | Change::Pinned { .. }
        | Change::Forgotten { .. }
        | Change::Embedded { .. }
        | Change::MessageGone { .. }
        | Change::Narrowed { .. }
        | Change::PersonForgotten { .. }
        | Change::RoomForgotten { .. }
        | Change::OptedOut { .. }
        | Change::Faded { .. } => Vec::new(),
    }
}

impl Memory for Layered {
    fn apply<'a>(&'a self, changes: Vec<Change>, policies: &'a Policies) -> Doing<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let changes = self.complete(changes).await?;
            // The one that can fail goes first.
            self.local.apply(changes.clone(), policies).await?;
            let mut known = self.opted_out(&changes).await?;
            known.extend(changes);
            self.ram.apply(known, policies).await
        })
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> Doing<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        Box::pin(async move {
            let (channel, Marks { summarized, .. }) = self.of(self.on_disk.channels).channel(room).await?;
            let (_, Marks { reflected, .. }) = self.of(self.on_disk.facts).channel(room).await?;
            let (_, Marks { heard, .. }) = self.of(self.on_disk.people).channel(room).await?;
            Ok((channel, Marks { summarized, reflected, heard }))
        })
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> Doing<'a, Result<Vec<Recalled>, StoreError>> {
        self.of(self.on_disk.facts).recall(query, policies)
    }

    fn facts<'a>(&'a self, filter: Filter) -> Doing<'a, Result<Vec<Fact>, StoreError>> {
        self.of(self.on_disk.facts).facts(filter)
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> Doing<'a, Result<Vec<Person>, StoreError>> {
        Box::pin(async move {
            let known = self.of(self.on_disk.people).people(who).await?;
            match who {
                Some(_) if known.is_empty() => self.local.people(who).await,
                _ => Ok(known),
            }
        })
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> Doing<'a, Result<About, StoreError>> {
        Box::pin(async move {
            Ok(About {
                person: self.people(Some(person)).await?.pop(),
                facts: self.of(self.on_disk.facts).about(person).await?.facts,
                channels: self.of(self.on_disk.channels).about(person).await?.channels,
            })
        })
    }
}
