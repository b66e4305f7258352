//! Converts SQLite's errors into store errors.

use crate::stores::StoreError;

/// SQLite's codes when a file cannot grow: its log, or the memory it shares with readers.
const OUT_OF_ROOM: [i32; 2] = [rusqlite::ffi::SQLITE_IOERR_WRITE, rusqlite::ffi::SQLITE_IOERR_SHMSIZE];

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full(error.to_string()),
            // No space for the files beside the database.
            Some(rusqlite::ErrorCode::SystemIoFailure)
                if error.sqlite_error().is_some_and(|it| OUT_OF_ROOM.contains(&it.extended_code)) =>
            {
                StoreError::Full(error.to_string())
            }
            _ => StoreError::Failed(error.to_string()),
        }
    }
}
