//! The states of engines, as a store keeps them.

use aizuchi_core::Time;

use super::BoxFuture;
use crate::stores::StoreError;

pub trait SnapshotStore: Send + Sync {
    fn states(&self, kind: StateKind) -> BoxFuture<'_, Result<StoredStates, StoreError>>;

    /// Keeps a snapshot in place of the last one of its shard, sometime soon.
    fn take(&self, state: EngineState) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Nothing has happened to this shard since its last snapshot, so that it holds for everything recorded by now.
    fn renew(&self, shard: usize) -> BoxFuture<'_, Result<(), StoreError>>;

    /// These snapshots take the place of all there were, in one commit.
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
    /// How many there are in all.
    pub shards: usize,
    /// The last record it has handled; `None` for the last one there is.
    pub seq: Option<i64>,
    pub at: Time,
    pub policies: String,
    pub body: String,
    /// A checksum of `body`.
    pub sum: i64,
}

/// The same as it was found. What was damaged may not even be text.
#[derive(Clone, Debug)]
pub struct StoredState {
    pub shard: usize,
    pub seq: i64,
    /// Not known of snapshots of older versions, as the checksum.
    pub shards: Option<usize>,
    pub sum: Option<i64>,
    pub at: Time,
    pub policies: Vec<u8>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct StoredStates {
    /// In the order of their shards.
    pub states: Vec<StoredState>,
    pub mark: BaseMark,
}

/// Tells whether the states the journal begins with, and the records that follow them, were rewritten meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseMark(pub u64);
