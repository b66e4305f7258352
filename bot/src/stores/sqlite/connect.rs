//! Connections to the file, with the settings that each of them needs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::migrations::{self, VERSION};
use crate::stores::StoreError;

/// How many prepared statements each connection keeps: more than there are.
const STATEMENTS_MAX: usize = 128;
/// The writer's page cache, so that the ends of tables and indexes are not read from the disk again and again.
const WRITER_CACHE_KIB: i64 = 16 * 1024;
/// The page cache of each reader: a search in a large memory reads the same parts of its indexes again and again.
const READER_CACHE_KIB: i64 = 16 * 1024;
pub const BUSY_FOR: Duration = Duration::from_secs(5);

/// Opens a store that another program may be writing, read-only.
pub fn open_for_reading(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_FOR)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // A prepared statement is not prepared again for each value that is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    let found = migrations::version(&connection)?;
    if found > VERSION { Err(StoreError::Newer { found, newest: VERSION }) } else { Ok(connection) }
}

/// Writes something into a file and reads it, and leaves nothing of it.
pub fn try_file(path: &Path) -> Result<(), StoreError> {
    // Writing into one of a newer version would change it.
    drop(open_for_reading(path)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_FOR)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch("CREATE TABLE store_trial (words TEXT); INSERT INTO store_trial VALUES ('相槌')")?;
    transaction.query_row("SELECT words FROM store_trial", [], |row| row.get::<_, String>(0))?;
    Ok(transaction.rollback()?)
}

/// Creates it if it is missing, and migrates it.
pub fn open_for_writing(path: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(PathBuf::from(path))?;
    connection.busy_timeout(BUSY_FOR)?;
    // Set first: it only takes effect for a new file, or when the file is next rewritten.
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Durable even after a power failure.
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Deleted data is overwritten, because forgotten means forgotten.
    connection.pragma_update(None, "secure_delete", true)?;
    // Every write is a savepoint within a shared commit. Its undo data stays in memory: in a temporary file it was more
    // than half of all writes to the disk.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    match migrations::migrate(&mut connection)? {
        Ok(()) => Ok(connection),
        Err(found) => Err(StoreError::Newer { found, newest: VERSION }),
    }
}
