//! Each layer in the store that the settings choose for it.
//!
//! There are three layers: notes on channels, profiles of people, facts. [`open`] opens each store once, for the layers that it keeps; if
//! that is the main store alone, it is used as it is, and nothing of what follows applies.
//!
//! Otherwise every change goes to every store, and each applies what concerns its layers. A change may need what another store
//! knows: who is forgotten in which rooms is completed before (`Layered::complete`). The main store is durable and always knows who
//! opted out: it hears of an opt-out before all others, and of an opt-in after them. Nothing about people who opted out reaches the
//! others (`Layered::out_of`, `apply_elsewhere`). If a store does not answer, the whole change fails, and its caller makes it again.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, ContextTurn, ExportItem, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport,
    PersonNames, Query, Recalled, Tie,
};
use aizuchi_core::settings::{Layers, MemorySettings, StoreName};
use aizuchi_core::types::{PersonId, RoomId};

use super::table::StoredLayers;
use super::{MEMORY_STORES, MemoryContext, MemoryStoreSpec};
use crate::ports::{BoxFuture, FileCleanup, Memory, MemoryCatalog, MemoryStore, StoreKind, WaitLimit};
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
                    let known = self.people(Some(person)).await?;
                    let rooms: Vec<RoomId> = known.into_iter().flat_map(|known| known.rooms).collect();
                    let (person, names) = (person.clone(), PersonNames::default());
                    added.push(MemoryChange::PersonForgotten { person, names, rooms });
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

    /// Which of the people concerned opted out, as the durable store knows, and do not opt in with these changes.
    async fn out_of(&self, changes: &[MemoryChange]) -> Result<Vec<PersonId>, StoreError> {
        let returns = |person: &PersonId| changes.iter().any(|change| opts_in(change, person));
        let mut people: Vec<PersonId> =
            changes.iter().flat_map(people_of).filter(|person| !returns(person)).cloned().collect();
        people.sort();
        people.dedup();
        self.durable.who_opted_out(&people).await
    }
}

/// Applies changes to a store that is not the durable one. It has to know who opted out; but the store then forgets them,
/// for which it reads everything, so it hears of each once.
async fn apply_elsewhere(
    store: &dyn MemoryStore,
    out: &[PersonId],
    changes: &[MemoryChange],
    policies: &Policies,
) -> Result<(), StoreError> {
    let known = if out.is_empty() { Vec::new() } else { store.who_opted_out(out).await? };
    let unknown = out.iter().filter(|person| !known.contains(person));
    let told = unknown.map(|person| MemoryChange::OptedOut { person: person.clone(), out: true });
    let wanted = changes.iter().filter(|change| !is_about_any(change, out)).cloned();
    let all: Vec<MemoryChange> = told.chain(wanted).collect();
    if all.is_empty() { Ok(()) } else { store.apply(all, policies).await }
}

/// Whether a change would add nothing but what these people said, or who answered them.
fn is_about_any(change: &MemoryChange, people: &[PersonId]) -> bool {
    if let MemoryChange::Heard(heard) = change {
        return people.contains(&heard.person);
    }
    matches!(change, MemoryChange::Answered(answered) if people.contains(&answered.from) || people.contains(&answered.to))
}

fn opts_in(change: &MemoryChange, who: &PersonId) -> bool {
    matches!(change, MemoryChange::OptedOut { person, out: false } if person == who)
}

fn opts(change: &MemoryChange, wanted: bool) -> bool {
    matches!(change, MemoryChange::OptedOut { out, .. } if *out == wanted)
}

/// The people on whose words a fact rests, and those who spoke around them.
fn people_and_speakers<'a>(people: &'a [PersonId], context: &'a [ContextTurn]) -> impl Iterator<Item = &'a PersonId> {
    people.iter().chain(context.iter().map(|turn| &turn.person))
}

/// The people that a change would remember something of.
fn people_of(change: &MemoryChange) -> Vec<&PersonId> {
    match change {
        MemoryChange::Summarized(channel) => channel.active.iter().map(|(person, _)| person).collect(),
        MemoryChange::Reflected { facts, people, .. } => {
            let noted = people.iter().map(|note| &note.person);
            facts.iter().flat_map(|draft| people_and_speakers(&draft.people, &draft.context)).chain(noted).collect()
        }
        MemoryChange::Heard(heard) => vec![&heard.person],
        MemoryChange::Answered(answered) => vec![&answered.from, &answered.to],
        MemoryChange::Imported(item) => match &**item {
            ExportItem::Fact(fact) => people_and_speakers(&fact.people, &fact.context).collect(),
            ExportItem::Person(person) => vec![&person.id],
            ExportItem::Tie(tie) => vec![&tie.from, &tie.to],
            ExportItem::Channel(channel) => channel.active.iter().map(|(person, _)| person).collect(),
        },
        MemoryChange::Kept(draft) => people_and_speakers(&draft.people, &draft.context).collect(),
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
            let out = self.out_of(&changes).await?;
            for store in &self.others {
                apply_elsewhere(&**store, &out, &changes, policies).await?;
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

    fn who_opted_out<'a>(&'a self, people: &'a [PersonId]) -> BoxFuture<'a, Result<Vec<PersonId>, StoreError>> {
        Box::pin(async move {
            let mut out = self.durable.who_opted_out(people).await?;
            // Others may share the memory of people, and somebody may have opted out with them.
            let rest: Vec<PersonId> = people.iter().filter(|person| !out.contains(person)).cloned().collect();
            out.extend(self.people.who_opted_out(&rest).await?);
            Ok(out)
        })
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        self.people.ties(room, person)
    }

    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            for store in std::iter::once(&self.durable).chain(&self.others) {
                store.remove_copies().await?;
            }
            Ok(())
        })
    }

    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>> {
        Box::pin(async move {
            let mut settled = FileCleanup::Done;
            for store in std::iter::once(&self.durable).chain(&self.others) {
                if store.settle().await? == FileCleanup::StillRead {
                    settled = FileCleanup::StillRead;
                }
            }
            Ok(settled)
        })
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        Box::pin(async move {
            let known = self.people(Some(person)).await?.pop();
            let facts = self.facts.about(person).await?.facts;
            Ok(PersonExport::new(person, known, facts, self.channels.about(person).await?.channels))
        })
    }

    fn set_back_marks(&self, last: u64) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move {
            let mut rooms = self.durable.set_back_marks(last).await?;
            for store in &self.others {
                rooms += store.set_back_marks(last).await?;
            }
            Ok(rooms)
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
