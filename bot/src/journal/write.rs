//! The write side of the journal: inputs are durable before anything follows from them, and snapshots keep a start short.
//!
//! The journal is the source of truth. A record is an input of one shard with its number and time; handling the records in
//! order gives the same engine again, because the engine is deterministic. Everything else can be lost and is rebuilt:
//! decisions, and snapshots of the engines. `reached` remembers beside the database how far the journal was durable, so
//! that a start notices a database that was replaced by an older one. What is removed at the beginning of the journal
//! (retention, deleted messages) leaves behind the state at that point, the *base*, and both change in one transaction.

use std::sync::Arc;

use aizuchi_core::engine::Snapshot;
use aizuchi_core::policy::StoredPolicies;
use aizuchi_core::{Engine, Input, Policies, Time, Trace};

use super::engines::{Engines, encode};
use super::progress_file::{self, LostRecords, ProgressFile};
use super::read::Records;
use crate::ports::{Appended, EngineState, JournalEntry, NewBase, OldRecords, Position, Rewrite, Stores};
use crate::stores::StoreError;

/// Cheap to clone.
#[derive(Clone)]
pub struct Journal {
    pub(super) stores: Stores,
    reached: Arc<ProgressFile>,
}

/// The state of an engine that has handled all records of its shard up to `seq`, or up to the last one if that is `None`.
pub struct ShardState {
    pub shard: usize,
    /// The total number of shards.
    pub shards: usize,
    pub seq: Option<u64>,
    pub at: Time,
    pub policies: StoredPolicies,
    pub snapshot: Snapshot,
}

impl ShardState {
    pub fn of(shard: usize, at: Time, engine: &Engine) -> ShardState {
        let policies = engine.policies().stated();
        ShardState { shard, shards: policies.shards(), seq: None, at, policies, snapshot: engine.snapshot() }
    }

    /// Runs on another thread, because the state may be large.
    pub(crate) async fn encode(self) -> EngineState {
        let ShardState { shard, shards, seq, at, policies, snapshot } = self;
        let encode = move || encode(shard, shards, seq.map(|seq| seq as i64), at, &policies, &snapshot);
        tokio::task::spawn_blocking(encode).await.expect("encoding does not panic")
    }
}

impl Journal {
    pub fn new(stores: impl Into<Stores>) -> Journal {
        let stores = stores.into();
        let reached = Arc::new(ProgressFile::beside(stores.files.path()));
        Journal { stores, reached }
    }

    async fn last_seq(&self) -> Result<u64, StoreError> {
        Ok(self.stores.journal.locate(Position::Last).await?.unwrap_or(0) as u64)
    }

    /// Durable records that are missing.
    pub async fn lost(&self) -> Result<Option<LostRecords>, StoreError> {
        Ok(LostRecords::of_records(self.stores.files.path(), self.last_seq().await?))
    }

    /// Continues with the records that are left.
    pub async fn accept_loss(&self) -> Result<(), StoreError> {
        let last = self.last_seq().await?;
        let failed = |error: std::io::Error| StoreError::Failed(error.to_string());
        progress_file::replace(self.stores.files.path(), last).map_err(failed)
    }

    /// Notes that the program runs at this time. A failure is not worth stopping for.
    pub async fn note_running(&self, at: Time) {
        let noted = match self.last_seq().await {
            Ok(last) => {
                progress_file::note_running(self.stores.files.path(), last, at).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = noted {
            tracing::debug!(error, "cannot store the heartbeat");
        }
    }

    /// When the program was last known to run, if nothing was recorded since.
    pub async fn ran_until(&self) -> Result<Option<Time>, StoreError> {
        let last = self.last_seq().await?;
        Ok(progress_file::ran_until(self.stores.files.path(), last))
    }

    /// The time of the last record that can be read.
    #[cfg(feature = "cluster")]
    pub async fn last_at(&self) -> Result<Option<Time>, StoreError> {
        let mut records = Records::last(&*self.stores.journal, 1).await?;
        while let Some(record) = records.next().await? {
            if let Ok(record) = record {
                return Ok(Some(record.at));
            }
        }
        Ok(None)
    }

    /// Records inputs in this order, and returns when they are durable.
    pub async fn append(&self, shard: usize, entries: &[JournalEntry]) -> Result<Appended, StoreError> {
        let appended = self.stores.journal.append(shard, entries).await?;
        self.reached.note(appended.seq);
        Ok(appended)
    }

    pub async fn keep(&self, decided: Arc<[Trace]>) -> Result<(), StoreError> {
        self.stores.decisions.keep(decided).await
    }

    /// The clock was set back: decisions made by the old clock are ordered before those made from now on.
    pub async fn order_traces(&self, now: Time) -> Result<(), StoreError> {
        self.stores.decisions.reorder(now).await
    }

    pub async fn take_snapshot(&self, state: ShardState) -> Result<(), StoreError> {
        self.stores.snapshots.take(state.encode().await).await
    }

    /// Nothing has happened to this engine since its last snapshot, so the snapshot is valid for everything recorded so
    /// far.
    pub async fn renew_snapshot(&self, shard: usize) -> Result<(), StoreError> {
        self.stores.snapshots.renew(shard).await
    }

    /// Replaces all snapshots by these atomically: a start finds either the old ones or the new ones.
    pub async fn replace_snapshots(&self, states: Vec<ShardState>) -> Result<(), StoreError> {
        let mut encoded = Vec::new();
        for state in states {
            encoded.push(state.encode().await);
        }
        self.stores.snapshots.replace(encoded).await
    }

    /// Empties a record that was only half written. Its number is not used again.
    pub async fn drop_torn(&self, seq: i64) -> Result<(), StoreError> {
        let records = vec![(seq, Input::Forgotten)];
        self.stores.journal.rewrite(Arc::new(Rewrite { records, ..Rewrite::default() }), None).await.map(drop)
    }

    /// Deletes old records, as far as no start needs them, in small steps. Returns how many records were deleted. `policies`
    /// apply to what happened before any settings were recorded.
    pub async fn prune(&self, old: impl Into<OldRecords>, policies: &Policies) -> Result<u64, StoreError> {
        let old = old.into();
        let Some(cut) = self.cut(old).await? else { return Ok(0) };
        let store = &self.stores.journal;
        let (engines, mark) = Engines::at_the_beginning(&*self.stores.snapshots, policies).await?;
        let engines = self.advance(engines.map_err(StoreError::Failed)?, cut).await?;
        // The base is written first, in its own commit: records that it covers are skipped while the journal still has
        // them.
        let base = NewBase { instead_of: mark, states: engines.encode().await };
        if !store.rewrite(Arc::default(), Some(base)).await? {
            // These engines may know a person who was forgotten meanwhile, so pruning waits for the next run.
            return Ok(0);
        }
        let mut records = 0;
        loop {
            let pruned = store.prune(cut, old.before).await?;
            records += pruned.records;
            if !pruned.more {
                return Ok(records);
            }
        }
    }

    /// The last record before the first that is not old, if it is part of every snapshot. `None` if there is none.
    async fn cut(&self, old: OldRecords) -> Result<Option<i64>, StoreError> {
        let store = &self.stores.journal;
        let (first, last) = (store.locate(Position::First).await?, store.locate(Position::Last).await?);
        let snapshotted = store.locate(Position::InEverySnapshot).await?;
        let (Some(first), Some(last), Some(snapshotted)) = (first, last, snapshotted) else { return Ok(None) };
        let since = store.locate(Position::FirstNotOld(old)).await?.unwrap_or(last + 1);
        // The last record stays, so that its number is never used again.
        let cut = (since - 1).min(last - 1).min(snapshotted);
        Ok((cut >= first).then_some(cut))
    }

    /// The engines after the record `cut`.
    async fn advance(&self, mut engines: Engines, cut: i64) -> Result<Engines, StoreError> {
        let mut effects = Vec::new();
        let mut records = Records::after(&*self.stores.journal, engines.seq()).await?;
        while let Some(record) = records.next_whole().await? {
            if record.seq > cut {
                break;
            }
            if !engines.has_handled(&record) {
                engines.engine_for(&record).handle(record.at, record.input, &mut effects);
                effects.clear();
            }
        }
        Ok(engines)
    }
}
