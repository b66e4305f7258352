//! The ports of stores together.

use std::path::Path;
use std::sync::Arc;

use super::{BoxFuture, DecisionStore, ForgetJobs, JournalIndex, JournalStore, KeeperStore, SnapshotStore};
use crate::stores::StoreError;

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
