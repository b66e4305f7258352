//! The tables, and how an older file becomes a newer one. A step is never changed once it was released: a new one follows.

use rusqlite::Connection;

/// Each step brings a file from the version of its place to the next.
const STEPS: &[&str] = &[
    include_str!("0001.sql"),
    include_str!("0002.sql"),
    include_str!("0003.sql"),
    include_str!("0004.sql"),
    include_str!("0005.sql"),
    include_str!("0006.sql"),
    include_str!("0007.sql"),
    include_str!("0008.sql"),
];

pub const VERSION: u32 = STEPS.len() as u32;

/// Brings the file up to date. `Err` with the file's version if it is newer than this program.
pub fn migrate(connection: &mut Connection) -> rusqlite::Result<Result<(), u32>> {
    let found = version(connection)?;
    if found > VERSION {
        return Ok(Err(found));
    }
    for (place, step) in STEPS.iter().enumerate().skip(found as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", place as u32 + 1)?;
        transaction.commit()?;
    }
    Ok(Ok(()))
}

pub fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
