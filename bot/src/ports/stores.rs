//! All store ports together.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    BoxFuture, CopyStore, DecisionStore, ForgetJobs, JournalIndex, JournalStore, KeeperStore, MemoryStore,
    PlatformStores, SnapshotStore,
};
use crate::memory::StoredLayers;
use crate::stores::StoreError;

/// A complete store: one adapter that implements every port.
pub trait StoreBackend: Send + Sync {
    fn kind(&self) -> StoreKind;

    /// Its location for display: a file, or a database without its password.
    fn display_name(&self) -> String;

    fn stores(&self) -> Stores;

    fn platform_stores(&self) -> PlatformStores;

    /// Long-term memory, with the layers that are kept here.
    fn memory(&self, kept: StoredLayers) -> Arc<dyn MemoryStore>;

    /// The condition of the store, as far as it can be determined quickly.
    fn condition(&self) -> BoxFuture<'_, Result<StoreCondition, StoreError>>;

    /// The same for every address of the same store, and different for every other store.
    fn identity(&self) -> BoxFuture<'_, Result<String, StoreError>>;

    /// What its journal is called. A copy of everything has the same.
    fn journal_id(&self) -> BoxFuture<'_, Result<JournalId, StoreError>>;

    /// Writes something and reads it, and leaves nothing of it. Returns what could be better, with what to do about it.
    fn try_out(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, StoreError>>;

    /// Writes a copy of everything into an empty file: an SQLite store, whatever this one is.
    fn back_up<'a>(&'a self, file: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Everything row by row, for a copy.
    fn copying(&self) -> Arc<dyn CopyStore>;

    /// Problems with its tables. May take a while.
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

/// What can be determined about a store by reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreCondition {
    /// Whether it is a store of ours at all.
    pub has_records: bool,
    /// Whether its version has memory.
    pub has_memory: bool,
    /// Whether a copy of everything into it was interrupted: it holds a part of another store.
    pub is_partial_copy: bool,
    /// Whether its rooms are those of a cluster: a single process goes on with them once the cluster was left.
    pub is_of_cluster: bool,
    /// Whether a program runs on it, where the store itself knows.
    pub is_running: Option<bool>,
}

/// The stores of the shell. Cheap to clone.
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
    /// All ports of one adapter.
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

/// The files of a store.
pub trait StoreFiles: Send + Sync {
    /// The file beside which the shell may put small notes of its own.
    fn path(&self) -> &Path;

    /// Whether it can be written, as far as is known.
    fn check(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Removes deleted data from the files. Retries for a while.
    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>>;

    /// Removes copies of deleted data, which may be left in gaps of the files. All other writes wait.
    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Whether deleted data is gone from the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum FileCleanup {
    Done,
    /// A reader still uses an earlier state of the files, which keeps the old pages in them.
    StillRead,
}
