//! The start: engines as they were, from their snapshots and what happened since.

use std::collections::BTreeMap;

use aizuchi_core::effect::Effect;
use aizuchi_core::engine::Snapshot;
use aizuchi_core::policy::Stated;
use aizuchi_core::{Engine, Input, Policies, Time, Trace};
use rusqlite::Connection;

use super::read::{Damaged, Record, Records};
use crate::runtime::shard_of;
use crate::stores::StoreError;

/// What a start finds.
pub struct Recovered {
    /// One engine for each shard, as it was when the last durable record had been handled.
    pub engines: Vec<Engine>,
    /// The settings that held then; none if nothing has ever happened.
    pub policies: Option<Stated>,
    /// Decisions that fell since the snapshots: they may not have been kept.
    pub traces: Vec<Trace>,
    /// When the last record was handled.
    pub last_at: Time,
    pub last_seq: u64,
    /// How many records had to be handled again.
    pub records: u64,
    pub from_snapshot: bool,
    /// Records that can not be read: a last one that was only half written, or worse.
    pub damaged: Vec<Damaged>,
}

/// An engine as it was after one of its records.
pub(super) struct Kept {
    pub seq: u64,
    pub engine: Engine,
}

impl Kept {
    pub fn fresh(policies: &Policies) -> Kept {
        Kept { seq: 0, engine: Engine::new(policies.clone()) }
    }
}

/// Reads snapshots and journal. `policies` hold where nothing else is known.
pub fn recover(connection: &Connection, policies: &Policies, shards: usize) -> Result<Recovered, StoreError> {
    let mut kept = kept_in(connection, "snapshot", policies)?;
    let from_snapshot = !kept.is_empty();
    let since = kept.values().map(|kept| kept.seq).min().unwrap_or(0);
    let mut found = Recovered {
        engines: Vec::new(),
        policies: kept.values().next().map(|kept| kept.engine.policies().stated()),
        traces: Vec::new(),
        last_at: last_snapshot(connection)?,
        last_seq: kept.values().map(|kept| kept.seq).max().unwrap_or(0),
        records: 0,
        from_snapshot,
        damaged: Vec::new(),
    };
    handle_again(connection, policies, since, &mut kept, &mut found)?;
    let snapshots = kept.into_values().map(|kept| kept.engine.snapshot());
    let parts = Snapshot::joined(snapshots).split(shards, |room| shard_of(room, shards));
    let held = found.policies.clone().map_or_else(|| policies.clone(), Policies::from);
    for part in parts {
        found.engines.push(Engine::restore(held.clone(), part).map_err(StoreError::Failed)?);
    }
    Ok(found)
}

/// The engines in one of the tables that hold them.
pub(super) fn kept_in(
    connection: &Connection,
    table: &'static str,
    policies: &Policies,
) -> Result<BTreeMap<usize, Kept>, StoreError> {
    let mut statement = connection.prepare(&format!("SELECT shard, seq, policies, body FROM {table}"))?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
    })?;
    let mut kept = BTreeMap::new();
    for row in rows {
        let (shard, seq, stated, body) = row?;
        // Settings of another version of this program may not be readable: today's do.
        let held = serde_json::from_str::<Stated>(&stated).map_or_else(|_| policies.clone(), Policies::from);
        let snapshot: Snapshot = serde_json::from_str(&body)
            .map_err(|error| StoreError::Failed(format!("the snapshot of engine {shard} can not be read: {error}")))?;
        let engine = Engine::restore(held, snapshot).map_err(StoreError::Failed)?;
        kept.insert(shard as usize, Kept { seq: seq as u64, engine });
    }
    Ok(kept)
}

fn last_snapshot(connection: &Connection) -> Result<Time, StoreError> {
    let at: Option<i64> = connection.query_row("SELECT max(at) FROM snapshot", [], |row| row.get(0))?;
    Ok(Time(at.unwrap_or(0) as u64))
}

fn handle_again(
    connection: &Connection,
    policies: &Policies,
    since: u64,
    kept: &mut BTreeMap<usize, Kept>,
    found: &mut Recovered,
) -> Result<(), StoreError> {
    let mut effects = Vec::new();
    for record in Records::after(connection, since as i64)? {
        let Record { seq, shard, at, input } = match record? {
            Ok(record) => record,
            Err(damaged) => {
                found.damaged.push(damaged);
                continue;
            }
        };
        let (seq, shard) = (seq as u64, shard as usize);
        let kept = kept.entry(shard).or_insert_with(|| Kept::fresh(policies));
        if seq <= kept.seq {
            continue;
        }
        if let Input::PolicyChanged(stated) = &input {
            found.policies = Some((**stated).clone());
        }
        kept.engine.handle(at, input, &mut effects);
        (found.last_at, found.last_seq) = (found.last_at.max(at), seq);
        found.records += 1;
        found.traces.extend(effects.drain(..).filter_map(|effect| match effect {
            Effect::Trace(trace) | Effect::Received(trace) => Some(*trace),
            Effect::Ask(_)
            | Effect::Write(_)
            | Effect::Deliver(_)
            | Effect::Recall(_)
            | Effect::Remember(_)
            | Effect::Abort(_) => None,
        }));
    }
    Ok(())
}
