//! What a store says when it cannot do as it is asked.

use super::migrations::VERSION;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error("the disk is full: {0}")]
    Full(String),
    #[error(
        "the store is of version {found}, and this program reads up to {VERSION}: use the newer aizuchi that wrote it; nothing was changed"
    )]
    Newer { found: u32 },
    #[error(
        "the database {0}, or the log beside it, was deleted or replaced while aizuchi runs, and nothing can be kept: put it back, or stop \
         aizuchi, restore a copy (`aizuchi backup` makes them) and start it again"
    )]
    Gone(String),
    /// Nothing can be written or read any more.
    #[error("the store is closed")]
    Closed,
    #[error("{0}")]
    Failed(String),
}

/// What SQLite says when a file cannot grow: its log, or the memory it shares with readers.
const OUT_OF_ROOM: [i32; 2] = [rusqlite::ffi::SQLITE_IOERR_WRITE, rusqlite::ffi::SQLITE_IOERR_SHMSIZE];

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full(error.to_string()),
            // No room for the files beside the database.
            Some(rusqlite::ErrorCode::SystemIoFailure)
                if error.sqlite_error().is_some_and(|it| OUT_OF_ROOM.contains(&it.extended_code)) =>
            {
                StoreError::Full(error.to_string())
            }
            _ => StoreError::Failed(error.to_string()),
        }
    }
}
