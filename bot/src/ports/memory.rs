//! Long-term memory.

use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, ExportItem, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::types::{PersonId, RoomId};
use tokio::time::Instant;

use super::{BoxFuture, FileCleanup};
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

    /// Those of these people who opted out.
    fn who_opted_out<'a>(&'a self, people: &'a [PersonId]) -> BoxFuture<'a, Result<Vec<PersonId>, StoreError>> {
        Box::pin(async move {
            let mut out = Vec::new();
            for person in people {
                if self.people(Some(person)).await?.iter().any(|known| known.opted_out) {
                    out.push(person.clone());
                }
            }
            Ok(out)
        })
    }

    /// Who answers whom in a room or in all, without access limits; only ties of this person if one is given.
    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>>;

    /// Everything that is stored about a person, except their ties.
    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>>;

    /// The journal ends with this record: how far rooms were read is set back to it where it is beyond. Returns of how many
    /// rooms.
    fn set_back_marks(&self, _last: u64) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(std::future::ready(Ok(0)))
    }

    /// Removes copies of what was deleted from its own files, if it has any.
    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Has what was deleted leave its own files, if it has any.
    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>> {
        Box::pin(std::future::ready(Ok(FileCleanup::Done)))
    }

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
        tokio::time::timeout(self.time, work).await.map_err(|_| self.late())
    }

    fn late(self) -> StoreError {
        let WaitLimit { store, time } = self;
        StoreError::Unavailable(format!("{store} did not answer within {} seconds", time.as_secs()))
    }
}

/// Until when somebody waits, for several things one after another. Without a limit, as long as they take.
#[derive(Clone, Copy, Debug)]
pub struct WaitDeadline(Option<(WaitLimit, Instant)>);

impl WaitDeadline {
    /// From now on.
    pub fn of(limit: Option<WaitLimit>) -> WaitDeadline {
        WaitDeadline(limit.map(|limit| (limit, Instant::now() + limit.time)))
    }

    /// Half of what is left, so that something else can follow.
    #[must_use]
    pub fn half(self) -> WaitDeadline {
        let now = Instant::now();
        WaitDeadline(self.0.map(|(limit, until)| (limit, now + until.saturating_duration_since(now) / 2)))
    }

    /// `Err` if it takes longer.
    pub async fn within<T>(self, work: impl Future<Output = T>) -> Result<T, StoreError> {
        let Some((limit, until)) = self.0 else { return Ok(work.await) };
        tokio::time::timeout_at(until, work).await.map_err(|_| limit.late())
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
