//! The write side: inputs are durable before anything follows from them, and snapshots keep a start short.

use std::sync::Arc;

use aizuchi_core::engine::Snapshot;
use aizuchi_core::policy::Stated;
use aizuchi_core::{Input, Policies, Time, Trace};
use rusqlite::params;

use super::base::{self, Base};
use super::record::encode;
use super::traces;
use crate::stores::{Database, StoreError};

/// Cheap to clone.
#[derive(Clone)]
pub struct Journal {
    pub(super) database: Database,
}

/// The state of an engine after the record `seq`.
pub struct State {
    pub shard: usize,
    pub seq: u64,
    pub at: Time,
    pub policies: Stated,
    pub snapshot: Snapshot,
}

/// The same, ready to be written.
pub(super) struct Encoded {
    shard: usize,
    seq: u64,
    at: Time,
    policies: String,
    body: String,
}

impl State {
    /// Away from where others wait: it may be large.
    pub(super) async fn encode(self) -> Encoded {
        let State { shard, seq, at, policies, snapshot } = self;
        let encode = move || {
            let policies = serde_json::to_string(&policies).expect("settings are plain data");
            let body = serde_json::to_string(&snapshot).expect("a snapshot is plain data");
            Encoded { shard, seq, at, policies, body }
        };
        tokio::task::spawn_blocking(encode).await.expect("encoding does not panic")
    }
}

pub(super) fn keep_state(transaction: &rusqlite::Transaction<'_>, state: &Encoded) -> rusqlite::Result<()> {
    let Encoded { shard, seq, at, policies, body } = state;
    let row = params![*shard as i64, *seq as i64, at.0 as i64, policies, body];
    transaction.execute("INSERT OR REPLACE INTO snapshot VALUES (?1, ?2, ?3, ?4, ?5)", row).map(drop)
}

/// Rows deleted at a time, so that nobody waits long behind the broom.
const PRUNED_TOGETHER: usize = 5_000;

impl Journal {
    pub fn new(database: Database) -> Journal {
        Journal { database }
    }

    /// Writes down what happened, in this order, and returns the last record's number when it is durable.
    pub async fn append(&self, shard: usize, inputs: &[(Time, Input)]) -> Result<u64, StoreError> {
        let encode_one = |(at, input): &(Time, Input)| {
            let (body, sum) = encode(input);
            (at.0 as i64, input.room().map(|room| room.0.clone()), body, sum)
        };
        let rows: Vec<_> = inputs.iter().map(encode_one).collect();
        let write = move |transaction: &rusqlite::Transaction<'_>| {
            let mut insert = transaction
                .prepare_cached("INSERT INTO journal (shard, at, room, body, sum) VALUES (?1, ?2, ?3, ?4, ?5)")?;
            for (at, room, body, sum) in &rows {
                insert.execute(params![shard as i64, at, room.as_deref(), body, sum])?;
            }
            Ok(transaction.last_insert_rowid() as u64)
        };
        self.database.write(write).await
    }

    pub async fn keep(&self, decided: Arc<[Trace]>) -> Result<(), StoreError> {
        self.database.write(move |transaction| traces::keep(transaction, &decided)).await
    }

    pub async fn take_snapshot(&self, state: State) -> Result<(), StoreError> {
        let state = state.encode().await;
        self.database.write(move |transaction| keep_state(transaction, &state)).await
    }

    /// Snapshots of engines that are no more.
    pub async fn drop_snapshots_from(&self, shards: usize) -> Result<(), StoreError> {
        let write = move |transaction: &rusqlite::Transaction<'_>| {
            transaction.execute("DELETE FROM snapshot WHERE shard >= ?1", [shards as i64]).map(drop)
        };
        self.database.write(write).await
    }

    /// Drops a record that was only half written.
    pub async fn drop_torn(&self, seq: i64) -> Result<(), StoreError> {
        let write = move |transaction: &rusqlite::Transaction<'_>| {
            transaction.execute("DELETE FROM journal WHERE seq = ?1", [seq]).map(drop)
        };
        self.database.write(write).await
    }

    /// Lets go of what happened before, as far as no start needs it; a little at a time. Returns how many records went.
    /// `policies` hold for what happened before any settings were written down.
    pub async fn prune(&self, before: Time, policies: &Policies) -> Result<u64, StoreError> {
        let policies = policies.clone();
        let advanced = self.database.read(move |connection| {
            let mut base = match Base::read(connection, &policies) {
                Ok(base) => base,
                Err(error) => return Ok(Err(error)),
            };
            let lived = base.advance(connection, &policies, before)?;
            Ok(Ok(if lived > 0 { base.rows() } else { Vec::new() }))
        });
        let rows = advanced.await??;
        // First, and apart: what it holds is passed over where the journal still has it.
        self.database.write(move |transaction| base::keep(transaction, &rows)).await?;
        let mut pruned = 0;
        loop {
            let gone = self.database.write(move |transaction| prune_some(transaction, before)).await?;
            pruned += gone as u64;
            if gone < PRUNED_TOGETHER {
                return Ok(pruned);
            }
        }
    }
}

fn prune_some(transaction: &rusqlite::Transaction<'_>, before: Time) -> rusqlite::Result<usize> {
    let limit = PRUNED_TOGETHER as i64;
    transaction.execute(
        "DELETE FROM trace WHERE (room, message) IN (SELECT room, message FROM trace WHERE at < ?1 LIMIT ?2)",
        params![before.0 as i64, limit],
    )?;
    let gone = transaction.execute(
        "DELETE FROM journal WHERE seq IN (
            SELECT seq FROM journal WHERE at < ?1
                AND seq <= coalesce((SELECT seq FROM snapshot WHERE snapshot.shard = journal.shard), 0)
            ORDER BY seq LIMIT ?2)",
        params![before.0 as i64, limit],
    )?;
    transaction.execute_batch("PRAGMA incremental_vacuum(1000)")?;
    Ok(gone)
}
