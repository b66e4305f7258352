//! The states of engines in their tables.

use aizuchi_core::Time;
use tokio_postgres::Row;
use xxhash_rust::xxh3::Xxh3;

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::error::PgResult;
use super::record::last_seq;
use crate::ports::{BaseMark, BoxFuture, EngineState, SnapshotStore, StateKind, StoredState, StoredStates};
use crate::stores::StoreError;

impl SnapshotStore for PostgresDatabase {
    fn states(&self, kind: StateKind) -> BoxFuture<'_, Result<StoredStates, StoreError>> {
        let read = move |connection: &PgConnection| {
            connection.snapshot(|| Ok(StoredStates { states: states(connection, kind)?, mark: mark(connection)? }))
        };
        Box::pin(self.read(read))
    }

    fn take(&self, state: EngineState) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write_behind(move |connection| insert(connection, StateKind::Snapshot, &state)))
    }

    fn renew(&self, shard: usize) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |connection: &PgConnection| {
            let seq = last_seq(connection)?;
            connection.execute("UPDATE snapshot SET seq = $2 WHERE shard = $1", &[&(shard as i32), &seq]).map(drop)
        };
        Box::pin(self.write(write))
    }

    fn replace(&self, states: Vec<EngineState>) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |connection: &PgConnection| {
            connection.execute("DELETE FROM snapshot", &[])?;
            states.iter().try_for_each(|state| insert(connection, StateKind::Snapshot, state))
        };
        Box::pin(self.write(write))
    }
}

pub fn insert(connection: &PgConnection, kind: StateKind, state: &EngineState) -> PgResult<()> {
    let seq = state.seq.map_or_else(|| last_seq(connection), Ok)?;
    let EngineState { shard, shards, policies, body, sum, at, .. } = state;
    let insert = format!(
        "INSERT INTO {} (shard, shards, seq, at, policies, body, sum) VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (shard) DO UPDATE SET shards = excluded.shards, seq = excluded.seq, at = excluded.at,
        policies = excluded.policies, body = excluded.body, sum = excluded.sum",
        kind.name()
    );
    let (shard, shards, at) = (*shard as i32, *shards as i32, at.0 as i64);
    connection.execute(&insert, &[&shard, &shards, &seq, &at, policies, body, sum]).map(drop)
}

fn states(connection: &PgConnection, kind: StateKind) -> PgResult<Vec<StoredState>> {
    let query = format!("SELECT shard, seq, policies, body, sum, shards, at FROM {} ORDER BY shard", kind.name());
    let state = |row: &Row| StoredState {
        shard: row.get::<_, i32>(0) as usize,
        seq: row.get(1),
        policies: row.get::<_, String>(2).into_bytes(),
        body: row.get::<_, String>(3).into_bytes(),
        sum: row.get(4),
        shards: row.get::<_, Option<i32>>(5).map(|shards| shards as usize),
        at: Time(row.get::<_, i64>(6).cast_unsigned()),
    };
    Ok(connection.query(&query, &[])?.iter().map(state).collect())
}

/// Which states the journal begins with, and how often anything was rewritten.
pub fn mark(connection: &PgConnection) -> PgResult<BaseMark> {
    let mut hash = Xxh3::new();
    let query = "SELECT 0, count, 0::bigint FROM journal_rewritten
        UNION ALL SELECT 1, shard, seq FROM base ORDER BY 1, 2";
    for row in connection.query(query, &[])? {
        hash.update(&row.get::<_, i64>(1).to_le_bytes());
        hash.update(&row.get::<_, i64>(2).to_le_bytes());
    }
    Ok(BaseMark(hash.digest()))
}
