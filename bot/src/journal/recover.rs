//! The start: restores the engines from their snapshots and the records since.
//!
//! It begins with the snapshots if every shard has one that can be read, otherwise with the base of the journal and all
//! records. If the number of shards has changed, the rooms are distributed anew. Then every record is replayed; effects are
//! dropped, except the decisions, which may not have been stored. Afterwards each engine gets `Resumed` and emits again
//! what is still pending. A record that cannot be read is reported and skipped. One on which the engine panics is skipped
//! too: its engine may be in any state, so everything starts again without that record. Cost: the records since the
//! snapshots.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use aizuchi_core::effect::DecisionReport;
use aizuchi_core::policy::StoredPolicies;
use aizuchi_core::{Engine, Input, Policies, Time, Trace};

use super::engines::Engines;
use super::read::{DamagedRecord, Records};
use crate::learnt;
use crate::ports::{Position, Record, StateKind, StoredState, Stores};
use crate::stores::StoreError;

/// The result of a recovery.
pub struct Recovered {
    /// One engine for each shard, as it was when the last durable record had been handled.
    pub engines: Vec<Engine>,
    /// The settings at that time; `None` if nothing has ever happened.
    pub policies: Option<StoredPolicies>,
    /// Decisions made since the snapshots: they may not have been stored.
    pub traces: Vec<Trace>,
    /// When the last record was handled.
    pub last_at: Time,
    pub last_seq: u64,
    /// How many records were replayed.
    pub records: u64,
    pub from: RecoveredFrom,
    /// Records that cannot be read: a last one that was only half written, or worse.
    pub damaged: Vec<DamagedRecord>,
    /// Models that the settings ask for and that are missing, each once.
    pub missing_models: BTreeSet<String>,
}

/// What a recovery began with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveredFrom {
    /// Nothing was ever snapshotted.
    Journal,
    /// Snapshots of as many shards as there are now.
    Snapshots,
    /// Snapshots of another number of shards.
    OtherShards,
    /// The whole journal, because the snapshots cannot be used, for this reason.
    UnusableSnapshots(String),
}

/// Reads snapshots and journal. `policies` apply if no settings are recorded.
pub async fn recover(stores: &Stores, policies: &Policies, shards: usize) -> Result<Recovered, StoreError> {
    let mut skipped = BTreeSet::new();
    loop {
        match recover_without(stores, policies, shards, &skipped).await {
            Ok(mut found) => {
                let failed = |seq| DamagedRecord::Within { seq, what: "the engine failed on it".into() };
                found.damaged.extend(skipped.into_iter().map(failed));
                return Ok(found);
            }
            // Its engine may be in any state now: start again without that record.
            Err(RecoveryError::EngineFailed(seq)) => {
                skipped.insert(seq);
            }
            Err(RecoveryError::Store(error)) => return Err(error),
        }
    }
}

/// Why the journal could not be replayed to its end.
enum RecoveryError {
    /// The engine panicked on this record.
    EngineFailed(i64),
    Store(StoreError),
}

impl From<StoreError> for RecoveryError {
    fn from(error: StoreError) -> RecoveryError {
        RecoveryError::Store(error)
    }
}

async fn recover_without(
    stores: &Stores,
    policies: &Policies,
    shards: usize,
    skipped: &BTreeSet<i64>,
) -> Result<Recovered, RecoveryError> {
    let snapshots = stores.snapshots.states(StateKind::Snapshot).await?.states;
    let (mut engines, from) = begin(stores, &snapshots, policies, shards).await?;
    let mut found = Recovered {
        engines: Vec::new(),
        policies: (!engines.is_fresh()).then(|| engines.policies()),
        traces: Vec::new(),
        last_at: last_snapshot(&snapshots),
        last_seq: engines.seq() as u64,
        records: 0,
        from,
        damaged: Vec::new(),
        missing_models: BTreeSet::new(),
    };
    found.missing_models.extend(engines.missing_models(policies));
    let mut expected = first_after(stores, engines.seq()).await?;
    let mut records = Records::after(&*stores.journal, engines.seq()).await?;
    while let Some(record) = records.next().await? {
        let seq = record.as_ref().map_or_else(DamagedRecord::seq, |record| record.seq);
        if seq > expected {
            found.damaged.push(DamagedRecord::Missing { from: expected, to: seq - 1 });
        }
        expected = seq + 1;
        let record = match record {
            Ok(record) => record,
            Err(damaged) => {
                found.damaged.push(damaged);
                continue;
            }
        };
        found.last_seq = record.seq as u64;
        if engines.has_handled(&record) || skipped.contains(&record.seq) {
            continue;
        }
        if let Input::PolicyChanged(stated) = &record.input {
            found.missing_models.extend(learnt::missing(stated, policies));
        }
        let Ok(()) = catch_unwind(AssertUnwindSafe(|| handle_again(&mut engines, record, &mut found))) else {
            return Err(RecoveryError::EngineFailed(seq));
        };
    }
    let held = found.policies.clone().map_or_else(|| policies.clone(), |stated| stated.known_to(policies));
    found.engines = engines.into_engines(&held, shards);
    Ok(found)
}

/// The engines to continue from. Without usable snapshots they are rebuilt from all records.
async fn begin(
    stores: &Stores,
    snapshots: &[StoredState],
    policies: &Policies,
    shards: usize,
) -> Result<(Engines, RecoveredFrom), StoreError> {
    let from = match Engines::snapshotted(snapshots, policies) {
        Ok(Some(engines)) if engines.count() == shards => return Ok((engines, RecoveredFrom::Snapshots)),
        Ok(Some(engines)) => return Ok((engines, RecoveredFrom::OtherShards)),
        Ok(None) => RecoveredFrom::Journal,
        Err(reason) => RecoveredFrom::UnusableSnapshots(reason),
    };
    let (engines, _) = Engines::at_the_beginning(&*stores.snapshots, policies).await?;
    let engines = engines.map_err(|damage| {
        StoreError::Failed(format!(
            "{damage}, and the journal does not go back far enough to rebuild it. Restore a backup of aizuchi.db \
             (`aizuchi backup`), or move the file away to start with an empty store"
        ))
    })?;
    Ok((engines, from))
}

/// The number of the record that must follow this one. If nothing was handled yet, the journal begins with whatever its
/// first record is.
async fn first_after(stores: &Stores, seq: i64) -> Result<i64, StoreError> {
    match seq {
        0 => Ok(stores.journal.locate(Position::First).await?.unwrap_or(1)),
        _ => Ok(seq + 1),
    }
}

/// When the last of them was taken. This is not the latest time, since the clock may have been set back.
fn last_snapshot(snapshots: &[StoredState]) -> Time {
    snapshots.iter().max_by_key(|snapshot| snapshot.seq).map_or(Time(0), |snapshot| snapshot.at)
}

fn handle_again(engines: &mut Engines, record: Record, found: &mut Recovered) {
    let engine = engines.engine_for(&record);
    let Record { at, input, .. } = record;
    if let Input::PolicyChanged(stated) = &input {
        found.policies = Some((**stated).clone());
    }
    let mut effects = Vec::new();
    engine.handle(at, input, &mut effects);
    found.last_at = at;
    found.records += 1;
    let reports = effects.into_iter().filter_map(|effect| effect.into_report().ok());
    found.traces.extend(reports.map(DecisionReport::into_trace));
}
