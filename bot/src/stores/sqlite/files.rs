//! The ports that this adapter serves, and what it leaves in files.

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use super::Database;
use crate::ports::{BoxFuture, FileCleanup, StoreFiles, Stores};
use crate::stores::StoreError;

impl From<Database> for Stores {
    fn from(database: Database) -> Stores {
        let database = Arc::new(database);
        Stores {
            journal: database.clone(),
            index: database.clone(),
            decisions: database.clone(),
            snapshots: database.clone(),
            keeper: database.clone(),
            jobs: database.clone(),
            files: database,
        }
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

impl Database {
    /// Whether this is a store of ours, and no other database.
    pub async fn has_records(&self) -> Result<bool, StoreError> {
        self.read(|connection| Ok(connection.table_exists(None, "journal")? && connection.table_exists(None, "trace")?))
            .await
    }

    /// Whether it is of a version that has memory.
    pub async fn has_memory(&self) -> Result<bool, StoreError> {
        self.read(|connection| connection.table_exists(None, "memory_tie")).await
    }

    /// Writes a copy of the whole store into a file that is empty.
    pub async fn copy_to(&self, file: &str) -> Result<(), StoreError> {
        let file = file.to_owned();
        self.read(move |connection| connection.execute("VACUUM INTO ?1", [file]).map(drop)).await
    }

    /// What SQLite finds wrong with its tables; nothing if they are whole.
    pub async fn complaints(&self) -> Result<Vec<String>, StoreError> {
        self.read(complaints).await
    }
}

fn complaints(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("PRAGMA quick_check(5)")?;
    let findings: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok(if findings == ["ok"] { Vec::new() } else { findings })
}
