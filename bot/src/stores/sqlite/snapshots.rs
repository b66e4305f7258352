//! The states of engines in their tables.

use aizuchi_core::Time;
use rusqlite::{Connection, Transaction, params};
use xxhash_rust::xxh3::Xxh3;

use super::Database;
use super::record::last_seq;
use crate::ports::{BaseMark, BoxFuture, EngineState, SnapshotStore, StateKind, StoredState, StoredStates};
use crate::stores::StoreError;

impl SnapshotStore for Database {
    fn states(&self, kind: StateKind) -> BoxFuture<'_, Result<StoredStates, StoreError>> {
        let read = move |connection: &Connection| {
            // Both as of the same instant.
            let reading = connection.unchecked_transaction()?;
            let mark = mark(&reading)?;
            Ok(StoredStates { states: states(&reading, kind)?, mark })
        };
        Box::pin(self.read(read))
    }

    fn take(&self, state: EngineState) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write_behind(move |transaction| insert(transaction, StateKind::Snapshot, &state)))
    }

    fn renew(&self, shard: usize) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |transaction: &Transaction<'_>| {
            let update = "UPDATE snapshot SET seq = ?2 WHERE shard = ?1";
            transaction.execute(update, params![shard as i64, last_seq(transaction)?]).map(drop)
        };
        Box::pin(self.write(write))
    }

    fn replace(&self, states: Vec<EngineState>) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |transaction: &Transaction<'_>| {
            transaction.execute("DELETE FROM snapshot", [])?;
            states.iter().try_for_each(|state| insert(transaction, StateKind::Snapshot, state))
        };
        Box::pin(self.write(write))
    }
}

pub fn insert(transaction: &Transaction<'_>, kind: StateKind, state: &EngineState) -> rusqlite::Result<()> {
    let seq = state.seq.map_or_else(|| last_seq(transaction), Ok)?;
    let EngineState { shard, shards, policies, body, sum, at, .. } = state;
    let (shard, shards, at) = (*shard as i64, *shards as i64, at.0 as i64);
    match kind {
        StateKind::Base => {
            let insert = "INSERT OR REPLACE INTO base (shard, seq, policies, body, sum, shards)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            transaction.prepare_cached(insert)?.execute(params![shard, seq, policies, body, sum, shards]).map(drop)
        }
        StateKind::Snapshot => {
            let insert = "INSERT OR REPLACE INTO snapshot (shard, seq, policies, body, sum, shards, at)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
            transaction.prepare_cached(insert)?.execute(params![shard, seq, policies, body, sum, shards, at]).map(drop)
        }
    }
}

fn states(connection: &Connection, kind: StateKind) -> rusqlite::Result<Vec<StoredState>> {
    let name = kind.name();
    // A store that no current version has opened yet.
    if !connection.table_exists(None, name)? {
        return Ok(Vec::new());
    }
    let at = match kind {
        StateKind::Base => "0",
        StateKind::Snapshot => "at",
    };
    // Stores of older versions have neither a checksum nor a number yet.
    let columns = match connection.prepare(&format!("SELECT sum, shards FROM {name}")) {
        Ok(_) => "sum, shards",
        Err(_) => "NULL, NULL",
    };
    let query = format!("SELECT shard, seq, policies, body, {columns}, {at} FROM {name} ORDER BY shard");
    let mut statement = connection.prepare(&query)?;
    let rows = statement.query_map([], |row| {
        let text = |column: usize| -> rusqlite::Result<Vec<u8>> {
            Ok(row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default().to_vec())
        };
        Ok(StoredState {
            shard: row.get::<_, i64>(0)? as usize,
            seq: row.get(1)?,
            policies: text(2)?,
            body: text(3)?,
            sum: row.get(4)?,
            shards: row.get::<_, Option<i64>>(5)?.map(|shards| shards as usize),
            at: Time(row.get::<_, i64>(6)? as u64),
        })
    })?;
    rows.collect()
}

/// Which states the journal begins with, and how often anything was rewritten.
pub fn mark(connection: &Connection) -> rusqlite::Result<BaseMark> {
    let mut hash = Xxh3::new();
    for query in ["SELECT count, 0 FROM journal_rewritten", "SELECT shard, seq FROM base ORDER BY shard"] {
        // An older store that is opened read-only has neither.
        let Ok(mut statement) = connection.prepare(query) else { continue };
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            hash.update(&row.get::<_, i64>(0)?.to_le_bytes());
            hash.update(&row.get::<_, i64>(1)?.to_le_bytes());
        }
    }
    Ok(BaseMark(hash.digest()))
}
