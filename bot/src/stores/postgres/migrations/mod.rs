//! The tables, and how an older database becomes a newer one. A step is never changed once it was released: a new one follows.

use super::connection::PgConnection;
use super::error::{PgError, PgResult};
use super::memory;
use crate::stores::StoreError;

/// Each step brings a database from the version of its place to the next.
const STEPS: &[&str] =
    &[include_str!("0001.sql"), include_str!("0002.sql"), include_str!("0003.sql"), include_str!("0004.sql")];

pub const VERSION: u32 = STEPS.len() as u32;
/// From this version on, the tables have the same columns as now.
pub const SAME_TABLES_FROM: u32 = 3;

/// Held while tables are made or changed: several programs may start at once.
pub(super) const MIGRATION_LOCK: i64 = 0x6169_7a75_6368_6932;

/// Brings the database up to date. `Err` if it is newer than this program; then nothing was changed.
pub fn migrate(connection: &PgConnection) -> PgResult<()> {
    connection.batch(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})"))?;
    let done = migrate_alone(connection).and_then(|()| memory::prepare(connection));
    connection.batch(&format!("SELECT pg_advisory_unlock({MIGRATION_LOCK})"))?;
    done
}

fn migrate_alone(connection: &PgConnection) -> PgResult<()> {
    let found = version(connection)?;
    if found > VERSION {
        return Err(PgError::Final(StoreError::Newer { found, newest: VERSION }));
    }
    for (index, step) in STEPS.iter().enumerate().skip(found as usize) {
        let version = index + 1;
        let whole = format!(
            "BEGIN; {step}; DELETE FROM store_version; INSERT INTO store_version (version) VALUES ({version}); COMMIT"
        );
        if let Err(error) = connection.batch(&whole) {
            let _ = connection.batch("ROLLBACK");
            return Err(error);
        }
    }
    Ok(())
}

/// 0 for a database that has none of our tables.
pub fn version(connection: &PgConnection) -> PgResult<u32> {
    if connection.simple("SELECT to_regclass('store_version')")?.is_none() {
        return Ok(0);
    }
    let found = connection.simple("SELECT version FROM store_version")?;
    let missing = || {
        let what = "the table store_version has no version, so that nobody can tell what the other tables are: restore a backup, or empty the database";
        PgError::Final(StoreError::Failed(what.into()))
    };
    found.and_then(|version| version.parse().ok()).filter(|version| *version > 0).ok_or_else(missing)
}
