//! The ports that this adapter implements, and what it leaves in files.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::{Database, SqliteMemory};
use crate::memory::StoredLayers;
use crate::ports::{
    BoxFuture, COPYING_TABLE, CopyStore, FileCleanup, JournalId, MemoryStore, PlatformStores, StoreBackend,
    StoreCondition, StoreFiles, StoreKind, Stores,
};
use crate::stores::StoreError;

impl From<Database> for Stores {
    fn from(database: Database) -> Stores {
        Stores::of(Arc::new(database))
    }
}

impl From<&Database> for Stores {
    fn from(database: &Database) -> Stores {
        database.clone().into()
    }
}

impl StoreFiles for Database {
    fn path(&self) -> &Path {
        Database::path(self)
    }

    fn check(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(Database::check(self))
    }

    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>> {
        Box::pin(Database::settle(self))
    }

    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(Database::remove_copies(self))
    }
}

impl StoreBackend for Database {
    fn kind(&self) -> StoreKind {
        StoreKind::Sqlite
    }

    fn display_name(&self) -> String {
        self.path().display().to_string()
    }

    fn stores(&self) -> Stores {
        self.into()
    }

    fn platform_stores(&self) -> PlatformStores {
        Database::platform_stores(self)
    }

    fn memory(&self, kept: StoredLayers) -> Arc<dyn MemoryStore> {
        Arc::new(SqliteMemory::new(self.clone(), kept))
    }

    fn condition(&self) -> BoxFuture<'_, Result<StoreCondition, StoreError>> {
        Box::pin(self.read(condition))
    }

    fn identity(&self) -> BoxFuture<'_, Result<String, StoreError>> {
        Box::pin(std::future::ready(identity(self.path())))
    }

    fn journal_id(&self) -> BoxFuture<'_, Result<JournalId, StoreError>> {
        Box::pin(self.read(journal_id))
    }

    fn try_out(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        Box::pin(async move { Database::check(self).await.map(|()| Vec::new()) })
    }

    fn back_up<'a>(&'a self, file: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        let file = file.to_owned();
        Box::pin(self.read(move |connection| connection.execute("VACUUM INTO ?1", [file]).map(drop)))
    }

    fn copying(&self) -> Arc<dyn CopyStore> {
        Arc::new(self.clone())
    }

    fn complaints(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        Box::pin(self.read(complaints))
    }
}

/// A file may have several names.
#[cfg(unix)]
fn identity(path: &Path) -> Result<String, StoreError> {
    use std::os::unix::fs::MetadataExt as _;
    let file = std::fs::metadata(path).map_err(|error| StoreError::Failed(error.to_string()))?;
    Ok(format!("file {} {}", file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Result<String, StoreError> {
    let whole = path.canonicalize().map_err(|error| StoreError::Failed(error.to_string()))?;
    Ok(format!("file {}", whole.display()))
}

/// A file that an earlier version wrote gets its own when it is upgraded.
fn journal_id(connection: &Connection) -> rusqlite::Result<JournalId> {
    if !connection.table_exists(None, "journal_id")? {
        return Ok(JournalId(String::new()));
    }
    connection.query_row("SELECT id FROM journal_id", [], |row| row.get(0)).map(JournalId)
}

fn condition(connection: &Connection) -> rusqlite::Result<StoreCondition> {
    let has = |table: &str| connection.table_exists(None, table);
    Ok(StoreCondition {
        has_records: has("journal")? && has("trace")?,
        has_memory: has("memory_tie")?,
        is_partial_copy: has(COPYING_TABLE)?,
        is_of_cluster: false,
        // The lock of the data folder tells.
        is_running: None,
    })
}

pub fn complaints(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA quick_check(5)")?;
    let findings: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(if findings == ["ok"] { Vec::new() } else { findings })
}
