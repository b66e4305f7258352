//! Long-term memory.

use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, ExportItem, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::types::{PersonId, RoomId};

use super::BoxFuture;
use crate::stores::StoreError;

/// What is remembered of rooms, people and facts. A memory store is one file that implements this.
pub trait Memory: Send + Sync {
    /// Applies the changes in order, atomically, and returns when they are as durable as this store is. The settings of
    /// each room say how much is kept.
    fn apply<'a>(&'a self, changes: Vec<MemoryChange>, policies: &'a Policies)
    -> BoxFuture<'a, Result<(), StoreError>>;

    /// What a channel is about, if known, and how far its records were read.
    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>>;

    /// Facts that match, limited to what the reader may know.
    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>>;

    /// Facts for the operator, latest first, without access limits.
    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>>;

    /// Known people, latest seen first. Only one person if one is given.
    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>>;

    /// Who answers whom in a room or in all, without access limits; only ties of this person if one is given.
    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>>;

    /// Everything that is stored about a person, except their ties.
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

/// The same for commands that read all of it.
pub trait MemoryCatalog: Send + Sync {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>>;

    /// Ordered by room.
    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>>;

    /// Rooms of which anything is remembered.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// Why this can never be kept here, if it cannot.
    fn refuses(&self, _: &ExportItem) -> Option<String> {
        None
    }
}

/// Both traits, for one store.
pub trait MemoryStore: Memory + MemoryCatalog {}

impl<T: Memory + MemoryCatalog> MemoryStore for T {}
