//! What is remembered for long.

use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, ExportItem, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::types::{PersonId, RoomId};

use super::BoxFuture;
use crate::stores::StoreError;

/// What is remembered of rooms, people and facts. A store of memory is one file behind this.
pub trait Memory: Send + Sync {
    /// Makes the changes in their order, whole or not at all, and returns when they are durable as far as this store is. The
    /// settings of each room say how much is kept.
    fn apply<'a>(&'a self, changes: Vec<MemoryChange>, policies: &'a Policies)
    -> BoxFuture<'a, Result<(), StoreError>>;

    /// What a channel is about, if that is known, and how far its records were read.
    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>>;

    /// Facts that fit, as far as the reader may know them.
    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>>;

    /// Facts for the operator, the latest first, without walls.
    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>>;

    /// Who is known, the latest seen first. One person if one is named.
    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>>;

    /// Who answers whom in a room or in all, without walls; only ties of this person where one is named.
    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>>;

    /// Everything that is kept about a person, except their ties.
    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>>;

    /// How long somebody who waits for an answer may wait for it. `None` where it is at hand.
    fn wait_limit(&self) -> Option<WaitLimit> {
        None
    }
}

/// How long something that is elsewhere is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitLimit {
    /// What is waited for.
    pub store: &'static str,
    pub time: Duration,
}

impl WaitLimit {
    /// `Err` if it takes longer.
    pub async fn within<T>(self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        let WaitLimit { store, time } = self;
        let late = |_| StoreError::Unavailable(format!("{store} did not answer within {} seconds", time.as_secs()));
        tokio::time::timeout(time, work).await.map_err(late)
    }
}

/// The same for tools that read all of it.
pub trait MemoryCatalog: Send + Sync {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>>;

    /// In the order of their rooms.
    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>>;

    /// Rooms of which anything is remembered.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// Why this can never be kept here, if it cannot.
    fn refuses(&self, _: &ExportItem) -> Option<String> {
        None
    }
}

/// Both, of one store.
pub trait MemoryStore: Memory + MemoryCatalog {}

impl<T: Memory + MemoryCatalog> MemoryStore for T {}
