//! The ports of stores together.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    BoxFuture, CopyStore, DecisionStore, ForgetJobs, JournalIndex, JournalStore, KeeperStore, MemoryStore,
    PlatformStores, SnapshotStore,
};
use crate::memory::StoredLayers;
use crate::stores::StoreError;

/// A whole store: one adapter that serves every port.
pub trait StoreBackend: Send + Sync {
    fn kind(&self) -> StoreKind;

    /// Where it is, as people are told: a file, or a database without its password.
    fn shown(&self) -> String;

    fn stores(&self) -> Stores;

    fn platform_stores(&self) -> PlatformStores;

    /// Long memory, as far as these layers are kept here.
    fn memory(&self, kept: StoredLayers) -> Arc<dyn MemoryStore>;

    /// What state it is in, as far as that is quickly told.
    fn condition(&self) -> BoxFuture<'_, Result<StoreCondition, StoreError>>;

    /// The same for every way that leads to the same store, and for no other store.
    fn identity(&self) -> BoxFuture<'_, Result<String, StoreError>>;

    /// What its journal is called. A copy of everything has the same.
    fn journal_id(&self) -> BoxFuture<'_, Result<JournalId, StoreError>>;

    /// Writes something and reads it, and leaves nothing of it. Returns what could be better, with what to do about it.
    fn try_out(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, StoreError>>;

    /// Writes a copy of everything into a file that is empty: a store of SQLite, whatever this one is.
    fn back_up<'a>(&'a self, file: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Everything row by row, to be taken along.
    fn copying(&self) -> Arc<dyn CopyStore>;

    /// What is wrong with its tables. May take a while.
    fn complaints(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>>;
}

/// What a journal is called, by nothing but chance: positions in it, and ids of the web room, mean nothing in another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JournalId(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    Sqlite,
    Postgres,
}

/// What can be found out about a store by looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreCondition {
    /// Whether it is a store of ours at all.
    pub has_records: bool,
    /// Whether it is of a version that has memory.
    pub has_memory: bool,
    /// Whether a program runs on it, where the store itself knows.
    pub is_running: Option<bool>,
}

/// What the shell keeps, and where. Cheap to clone.
#[derive(Clone)]
pub struct Stores {
    pub journal: Arc<dyn JournalStore>,
    pub index: Arc<dyn JournalIndex>,
    pub decisions: Arc<dyn DecisionStore>,
    pub snapshots: Arc<dyn SnapshotStore>,
    pub keeper: Arc<dyn KeeperStore>,
    pub jobs: Arc<dyn ForgetJobs>,
    pub files: Arc<dyn StoreFiles>,
}

impl Stores {
    /// All of one adapter.
    pub fn of<T>(adapter: Arc<T>) -> Stores
    where
        T: JournalStore
            + JournalIndex
            + DecisionStore
            + SnapshotStore
            + KeeperStore
            + ForgetJobs
            + StoreFiles
            + 'static,
    {
        Stores {
            journal: adapter.clone(),
            index: adapter.clone(),
            decisions: adapter.clone(),
            snapshots: adapter.clone(),
            keeper: adapter.clone(),
            jobs: adapter.clone(),
            files: adapter,
        }
    }
}

/// What a store leaves in files.
pub trait StoreFiles: Send + Sync {
    /// The file beside which the shell may put small notes of its own.
    fn path(&self) -> &Path;

    /// Whether it can be written, as far as is known.
    fn check(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Has what was deleted leave the files. Tried for a while.
    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>>;

    /// Removes copies of what was deleted, which may be left in gaps of the files. Whatever else is to be written waits.
    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Whether what was deleted is gone from the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum FileCleanup {
    Done,
    /// Somebody reads the files as they were before, and keeps the old pages in them.
    StillRead,
}
