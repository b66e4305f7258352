//! Each layer in the store that the settings choose for it.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::memory::words::NameCandidates;
use aizuchi_core::memory::{
    ChannelMemory, ExportItem, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::settings::{Layers, MemorySettings, StoreName};
use aizuchi_core::types::{PersonId, RoomId};

use super::table::StoredLayers;
use super::{MEMORY_STORES, MemoryContext, MemoryStoreSpec};
use crate::ports::{BoxFuture, Memory, MemoryCatalog, MemoryStore, StoreKind, WaitLimit};
use crate::stores::{StoreError, firestore};

/// The store of each layer.
struct MemoryLayers {
    channels: &'static MemoryStoreSpec,
    people: &'static MemoryStoreSpec,
    facts: &'static MemoryStoreSpec,
}

impl MemoryLayers {
    /// The layers that this store keeps.
    fn kept_by(&self, spec: &MemoryStoreSpec) -> StoredLayers {
        let is = |of: &MemoryStoreSpec| of.name == spec.name;
        StoredLayers { channels: is(self.channels), people: is(self.people), facts: is(self.facts) }
    }
}

/// `Err` names a store that does not exist. Settings are checked for it when they are read.
fn layers(settings: &MemorySettings, main: StoreKind) -> Result<MemoryLayers, String> {
    let find = |name: &StoreName| {
        let found = MEMORY_STORES.iter().find(|spec| spec.name == name.as_str());
        let found = found.ok_or_else(|| format!("there is no store {:?} for memory", name.as_str()))?;
        // Two connections to the same tables would count everything twice.
        Ok::<_, String>(if found.same_as == Some(main) { &MEMORY_STORES[0] } else { found })
    };
    Ok(MemoryLayers {
        channels: find(&settings.channel_context_store)?,
        people: find(&settings.profiles_store)?,
        facts: find(&settings.facts_store)?,
    })
}

/// Whether a layer is where other machines find it too.
pub fn is_elsewhere(settings: &MemorySettings) -> bool {
    let chosen = [&settings.channel_context_store, &settings.profiles_store, &settings.facts_store];
    chosen.iter().any(|name| name.as_str() == firestore::MEMORY.name)
}

/// Has each store that a layer is in written to and read, and returns what was found. A start and `doctor` do the same.
pub async fn try_out(settings: &MemorySettings, layers: &Layers) -> Result<Vec<String>, String> {
    let chosen = [&settings.channel_context_store, &settings.profiles_store, &settings.facts_store];
    let used = MEMORY_STORES.iter().filter(|spec| chosen.iter().any(|name| name.as_str() == spec.name));
    let mut told = Vec::new();
    for spec in used {
        told.extend((spec.try_out)(layers).await?);
    }
    Ok(told)
}

/// Opens the stores of memory. `Err` says what is missing.
pub async fn open(settings: &MemorySettings, context: MemoryContext<'_>) -> Result<Arc<dyn MemoryStore>, String> {
    let layers = layers(settings, context.backend.kind())?;
    // The first store always keeps who opted out: a restart must not forget that.
    let (first, others) = MEMORY_STORES.split_first().expect("there is a store");
    let used = others.iter().filter(|spec| layers.kept_by(spec) != StoredLayers::NONE);
    let mut opened: Vec<(&str, Arc<dyn MemoryStore>)> = Vec::new();
    for spec in std::iter::once(first).chain(used) {
        opened.push((spec.name, (spec.open)(context, layers.kept_by(spec)).await?));
    }
    if let [(_, only)] = &opened[..] {
        return Ok(only.clone());
    }
    let of = |spec: &MemoryStoreSpec| {
        let found = opened.iter().find(|(name, _)| *name == spec.name);
        found.expect("what a layer is in is opened").1.clone()
    };
    let (channels, people, facts) = (of(layers.channels), of(layers.people), of(layers.facts));
    let mut stores = opened.into_iter().map(|(_, memory)| memory);
    let durable = stores.next().expect("the first is opened");
    Ok(Arc::new(Layered { durable, others: stores.collect(), channels, people, facts }))
}

struct Layered {
    /// Knows who opted out, whatever else it keeps.
    durable: Arc<dyn MemoryStore>,
    others: Vec<Arc<dyn MemoryStore>>,
    channels: Arc<dyn MemoryStore>,
    people: Arc<dyn MemoryStore>,
    facts: Arc<dyn MemoryStore>,
}

impl Layered {
    /// A person is forgotten in all rooms that any layer knows of.
    async fn complete(&self, mut changes: Vec<MemoryChange>) -> Result<Vec<MemoryChange>, StoreError> {
        let mut added = Vec::new();
        for change in &mut changes {
            match change {
                MemoryChange::PersonForgotten { person, rooms, .. } => {
                    for known in self.people(Some(person)).await? {
                        rooms.extend(known.rooms);
                    }
                }
                MemoryChange::OptedOut { person, out: true } => {
                    let known =
                        self.people(Some(person)).await?.pop().unwrap_or_else(|| Person::opted_out(person.clone()));
                    let others = self.people(None).await?;
                    let others = others.iter().filter(|other| other.id != *person).flat_map(|other| &other.names);
                    let names = known.names.iter().map(|name| &**name);
                    let names = NameCandidates::sorted(names, others.map(|name| &**name).collect::<Vec<_>>()).certain;
                    added.push(MemoryChange::PersonForgotten { person: person.clone(), names, rooms: known.rooms });
                }
                MemoryChange::Summarized(_)
                | MemoryChange::Reflected { .. }
                | MemoryChange::Heard(_)
                | MemoryChange::Answered(_)
                | MemoryChange::Kept(_)
                | MemoryChange::Imported(_)
                | MemoryChange::Used { .. }
                | MemoryChange::Told { .. }
                | MemoryChange::Edited { .. }
                | MemoryChange::Pinned { .. }
                | MemoryChange::Forgotten { .. }
                | MemoryChange::Embedded { .. }
                | MemoryChange::MessageGone { .. }
                | MemoryChange::Narrowed { .. }
                | MemoryChange::RoomForgotten { .. }
                | MemoryChange::OptedOut { .. }
                | MemoryChange::Faded { .. } => (),
            }
        }
        changes.extend(added);
        Ok(changes)
    }

    /// Which of the people concerned opted out: the durable store knows, and the others have to be told.
    async fn opted_out(&self, changes: &[MemoryChange]) -> Result<Vec<MemoryChange>, StoreError> {
        let mut out = Vec::new();
        let mut people: Vec<&PersonId> = changes.iter().flat_map(people_of).collect();
        people.sort();
        people.dedup();
        for person in people {
            if self.durable.people(Some(person)).await?.iter().any(|known| known.opted_out) {
                out.push(MemoryChange::OptedOut { person: person.clone(), out: true });
            }
        }
        Ok(out)
    }
}

fn opts(change: &MemoryChange, wanted: bool) -> bool {
    matches!(change, MemoryChange::OptedOut { out, .. } if *out == wanted)
}

/// The people that a change would remember something of.
fn people_of(change: &MemoryChange) -> Vec<&PersonId> {
    match change {
        MemoryChange::Summarized(channel) => channel.active.iter().map(|(person, _)| person).collect(),
        MemoryChange::Reflected { facts, people, .. } => {
            let noted = people.iter().map(|note| &note.person);
            facts.iter().flat_map(|draft| &draft.people).chain(noted).collect()
        }
        MemoryChange::Heard(heard) => vec![&heard.person],
        MemoryChange::Answered(answered) => vec![&answered.from, &answered.to],
        MemoryChange::Imported(item) => match &**item {
            ExportItem::Fact(fact) => fact.people.iter().collect(),
            ExportItem::Person(person) => vec![&person.id],
            ExportItem::Tie(tie) => vec![&tie.from, &tie.to],
            ExportItem::Channel(channel) => channel.active.iter().map(|(person, _)| person).collect(),
        },
        MemoryChange::Kept(draft) => draft.people.iter().collect(),
        MemoryChange::Used { .. }
        | MemoryChange::Told { .. }
        | MemoryChange::Edited { .. }
        | MemoryChange::Pinned { .. }
        | MemoryChange::Forgotten { .. }
        | MemoryChange::Embedded { .. }
        | MemoryChange::MessageGone { .. }
        | MemoryChange::Narrowed { .. }
        | MemoryChange::PersonForgotten { .. }
        | MemoryChange::RoomForgotten { .. }
        | MemoryChange::OptedOut { .. }
        | MemoryChange::Faded { .. } => Vec::new(),
    }
}

impl Memory for Layered {
    fn apply<'a>(
        &'a self,
        changes: Vec<MemoryChange>,
        policies: &'a Policies,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            // An opt-out is recorded here before any other store is asked; an opt-in, once all others have it.
            let opts_out: Vec<MemoryChange> = changes.iter().filter(|change| opts(change, true)).cloned().collect();
            let opts_in = changes.iter().any(|change| opts(change, false));
            let changes = match self.complete(changes).await {
                Ok(changes) => changes,
                Err(error) => {
                    self.durable.apply(opts_out, policies).await?;
                    return Err(error);
                }
            };
            if !opts_in {
                self.durable.apply(changes.clone(), policies).await?;
            }
            let mut known = self.opted_out(&changes).await?;
            known.extend(changes.iter().cloned());
            for store in &self.others {
                store.apply(known.clone(), policies).await?;
            }
            if opts_in { self.durable.apply(changes, policies).await } else { Ok(()) }
        })
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        Box::pin(async move {
            let (channel, Marks { summarized, .. }) = self.channels.channel(room).await?;
            let (_, Marks { reflected, .. }) = self.facts.channel(room).await?;
            let (_, Marks { heard, .. }) = self.people.channel(room).await?;
            Ok((channel, Marks { summarized, reflected, heard }))
        })
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>> {
        self.facts.recall(query, policies)
    }

    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>> {
        self.facts.facts(filter)
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>> {
        Box::pin(async move {
            if who.is_none() {
                return self.people.people(who).await;
            }
            let here = self.durable.people(who).await?;
            if here.iter().any(|person| person.opted_out) {
                return Ok(here);
            }
            let known = self.people.people(who).await?;
            Ok(if known.is_empty() { here } else { known })
        })
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        self.people.ties(room, person)
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        Box::pin(async move {
            let known = self.people(Some(person)).await?.pop();
            let facts = self.facts.about(person).await?.facts;
            Ok(PersonExport::new(person, known, facts, self.channels.about(person).await?.channels))
        })
    }

    fn wait_limit(&self) -> Option<WaitLimit> {
        self.others.iter().filter_map(|store| store.wait_limit()).min_by_key(|limit| limit.time)
    }
}

impl MemoryCatalog for Layered {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>> {
        self.facts.fact(id)
    }

    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>> {
        self.channels.channels()
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        Box::pin(async move {
            let mut rooms = BTreeSet::new();
            for store in std::iter::once(&self.durable).chain(&self.others) {
                rooms.extend(store.rooms().await?);
            }
            Ok(rooms.into_iter().collect())
        })
    }

    fn refuses(&self, item: &ExportItem) -> Option<String> {
        match item {
            ExportItem::Fact(_) => self.facts.refuses(item),
            ExportItem::Person(_) | ExportItem::Tie(_) => self.people.refuses(item),
            ExportItem::Channel(_) => self.channels.refuses(item),
        }
    }
}
