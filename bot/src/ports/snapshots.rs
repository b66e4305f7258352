//! The states of engines, as a store keeps them.

use aizuchi_core::Time;

use super::BoxFuture;
use crate::stores::StoreError;

pub trait SnapshotStore: Send + Sync {
    fn states(&self, kind: StateKind) -> BoxFuture<'_, Result<StoredStates, StoreError>>;

    /// Replaces the snapshot of a shard, soon.
    fn take(&self, state: EngineState) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Nothing has happened to this shard since its last snapshot, so the snapshot is valid for everything recorded so far.
    fn renew(&self, shard: usize) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Replaces all snapshots by these, in one commit.
    fn replace(&self, states: Vec<EngineState>) -> BoxFuture<'_, Result<(), StoreError>>;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// Before the first record that is kept.
    Base,
    /// After a record, so that a start need not read from the beginning.
    Snapshot,
}

impl StateKind {
    pub fn name(self) -> &'static str {
        match self {
            StateKind::Base => "base",
            StateKind::Snapshot => "snapshot",
        }
    }
}

/// The state of an engine, ready to be stored.
#[derive(Clone, Debug)]
pub struct EngineState {
    pub shard: usize,
    /// The total number of shards.
    pub shards: usize,
    /// The last record it has handled; `None` for the last one in the journal.
    pub seq: Option<i64>,
    pub at: Time,
    pub policies: String,
    pub body: String,
    /// A checksum of `body`.
    pub sum: i64,
}

/// A stored state as it was read. Damaged data may not even be text.
#[derive(Clone, Debug)]
pub struct StoredState {
    pub shard: usize,
    pub seq: i64,
    /// Unknown for snapshots of older versions, as is the checksum.
    pub shards: Option<usize>,
    pub sum: Option<i64>,
    pub at: Time,
    pub policies: Vec<u8>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct StoredStates {
    /// Ordered by shard.
    pub states: Vec<StoredState>,
    pub mark: BaseMark,
}

/// Detects whether the states the journal begins with, and the records that follow them, were rewritten meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseMark(pub u64);
