//! The write side: inputs are durable before anything follows from them, and snapshots keep a start short.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use aizuchi_core::engine::Snapshot;
use aizuchi_core::policy::Stated;
use aizuchi_core::{Engine, Input, Policies, Time, Trace};
use rusqlite::{Connection, Transaction, params};

use super::engines::{EncodedEngine, Engines, last_seq};
use super::reached::{self, Lost, ReachedFile};
use super::read::Records;
use super::record::encode;
use super::traces;
use crate::stores::{Database, StoreError, within_savepoint};

/// What is to be recorded.
pub enum Entry {
    Input(Time, Input),
    /// What a platform stores itself: in the same commit as the records of it.
    Stored(Time, Store),
}

/// Stores something and returns what the engine is to hear of it. Where it fails, it fails alone. Called again when the whole
/// commit is tried again.
pub type Store = Arc<dyn Fn(&Transaction<'_>) -> rusqlite::Result<Vec<Input>> + Send + Sync>;

/// What was recorded.
pub struct Appended {
    /// The number of the last record.
    pub seq: u64,
    /// What came of each [`Entry::Stored`], in their order.
    pub stored: Vec<Result<Vec<Input>, StoreError>>,
}

/// An entry, encoded where that is possible before the commit.
enum Row {
    Record(Record),
    Stored(Time, Store),
}

struct Record {
    at: Time,
    room: Option<Box<str>>,
    body: String,
    sum: i64,
}

impl Record {
    fn new(at: Time, input: &Input) -> Record {
        let (body, sum) = encode(input);
        Record { at, room: input.room().map(|room| room.as_str().into()), body, sum }
    }

    fn insert(&self, transaction: &Transaction<'_>, shard: usize) -> rusqlite::Result<()> {
        let Record { at, room, body, sum } = self;
        let insert = "INSERT INTO journal (shard, at, room, body, sum) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![shard as i64, at.0 as i64, room.as_deref(), body, sum];
        transaction.prepare_cached(insert)?.execute(row).map(drop)
    }
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Journal {
    pub(super) database: Database,
    reached: Arc<ReachedFile>,
}

/// The state of an engine that has handled everything recorded of its shard up to the record `seq`; up to the last one, if
/// there is none.
pub struct State {
    pub shard: usize,
    /// How many there are in all.
    pub shards: usize,
    pub seq: Option<u64>,
    pub at: Time,
    pub policies: Stated,
    pub snapshot: Snapshot,
}

/// The same, ready to be written.
pub(super) struct EncodedState {
    seq: Option<u64>,
    at: Time,
    engine: EncodedEngine,
}

impl State {
    pub fn of(shard: usize, at: Time, engine: &Engine) -> State {
        let policies = engine.policies().stated();
        State { shard, shards: policies.shards(), seq: None, at, policies, snapshot: engine.snapshot() }
    }

    /// Away from where others wait: it may be large.
    pub(super) async fn encode(self) -> EncodedState {
        let encode = move || {
            let engine = EncodedEngine::new(self.shard, self.shards, &self.policies, &self.snapshot);
            EncodedState { seq: self.seq, at: self.at, engine }
        };
        tokio::task::spawn_blocking(encode).await.expect("encoding does not panic")
    }
}

impl EncodedState {
    pub fn store(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let seq = self.seq.map_or_else(|| last_seq(transaction), |seq| Ok(seq as i64))?;
        self.engine.store_as_snapshot(transaction, seq, self.at)
    }
}

/// Rows deleted at a time, so that nobody waits long behind the broom.
const PRUNED_TOGETHER: usize = 5_000;

impl Journal {
    pub fn new(database: Database) -> Journal {
        let reached = Arc::new(ReachedFile::beside(database.path()));
        Journal { database, reached }
    }

    /// Durable records that are not there any more.
    pub async fn lost(&self) -> Result<Option<Lost>, StoreError> {
        let last = self.database.read(last_seq).await?;
        Ok(Lost::of_records(self.database.path(), last as u64))
    }

    /// Goes on with the records that are there.
    pub async fn accept_loss(&self) -> Result<(), StoreError> {
        let last = self.database.read(last_seq).await?;
        let failed = |error: std::io::Error| StoreError::Failed(error.to_string());
        reached::replace(self.database.path(), last as u64).map_err(failed)
    }

    /// The program runs at this time. What cannot be noted is not worth stopping for.
    pub async fn note_running(&self, at: Time) {
        let noted = match self.database.read(last_seq).await {
            Ok(last) => reached::note_running(self.database.path(), last as u64, at).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = noted {
            tracing::debug!(error, "cannot note that the program runs");
        }
    }

    /// When the program was last known to run, if nothing was recorded since.
    pub async fn ran_until(&self) -> Result<Option<Time>, StoreError> {
        let last = self.database.read(last_seq).await?;
        Ok(reached::ran_until(self.database.path(), last as u64))
    }

    /// Records what happened, in this order, and returns when it is durable.
    pub async fn append(&self, shard: usize, entries: &[Entry]) -> Result<Appended, StoreError> {
        let to_row = |entry: &Entry| match entry {
            Entry::Input(at, input) => Row::Record(Record::new(*at, input)),
            Entry::Stored(at, store) => Row::Stored(*at, store.clone()),
        };
        let rows: Vec<Row> = entries.iter().map(to_row).collect();
        let write = move |transaction: &Transaction<'_>| {
            let mut stored = Vec::new();
            for row in &rows {
                match row {
                    Row::Record(record) => record.insert(transaction, shard)?,
                    Row::Stored(at, store) => stored.push(store_one(transaction, shard, *at, store)?),
                }
            }
            Ok(Appended { seq: last_seq(transaction)? as u64, stored })
        };
        let appended = self.database.write(write).await?;
        self.reached.note(appended.seq);
        Ok(appended)
    }

    pub async fn keep(&self, decided: Arc<[Trace]>) -> Result<(), StoreError> {
        self.database.write_behind(move |transaction| traces::keep(transaction, &decided)).await
    }

    /// The clock was set back: what was decided by the old one comes before what is decided from now on.
    pub async fn order_traces(&self, now: Time) -> Result<(), StoreError> {
        let order = "UPDATE trace SET at = ?1 WHERE at > ?1";
        self.database.write(move |transaction| transaction.execute(order, [now.0 as i64]).map(drop)).await
    }

    pub async fn take_snapshot(&self, state: State) -> Result<(), StoreError> {
        let state = state.encode().await;
        self.database.write_behind(move |transaction| state.store(transaction)).await
    }

    /// Nothing has happened to this engine since its last snapshot, so that it holds for everything recorded by now.
    pub async fn renew_snapshot(&self, shard: usize) -> Result<(), StoreError> {
        let write = move |transaction: &Transaction<'_>| {
            let update = "UPDATE snapshot SET seq = ?2 WHERE shard = ?1";
            transaction.execute(update, params![shard as i64, last_seq(transaction)?]).map(drop)
        };
        self.database.write(write).await
    }

    /// Snapshots of all engines take the place of all there were: a start finds either the old ones or these.
    pub async fn replace_snapshots(&self, states: Vec<State>) -> Result<(), StoreError> {
        let mut encoded = Vec::new();
        for state in states {
            encoded.push(state.encode().await);
        }
        let write = move |transaction: &Transaction<'_>| {
            transaction.execute("DELETE FROM snapshot", [])?;
            encoded.iter().try_for_each(|state| state.store(transaction))
        };
        self.database.write(write).await
    }

    /// Empties a record that was only half written. Its number is not given again.
    pub async fn drop_torn(&self, seq: i64) -> Result<(), StoreError> {
        let write = move |transaction: &Transaction<'_>| {
            let (body, sum) = encode(&Input::Forgotten);
            let update = "UPDATE journal SET body = ?2, sum = ?3 WHERE seq = ?1";
            transaction.execute(update, params![seq, body, sum]).map(drop)
        };
        self.database.write(write).await
    }

    /// Lets go of what happened before, as far as no start needs it; a little at a time. Returns how many records went.
    /// `policies` hold for what happened before any settings were written down.
    pub async fn prune(&self, before: Time, policies: &Policies) -> Result<u64, StoreError> {
        let policies = policies.clone();
        let forgotten = self.database.times_forgotten();
        let forgotten_before = forgotten.load(Ordering::SeqCst);
        let advanced = self.database.read(move |connection| advance_base(connection, &policies, before));
        let Some(NextBase { cut, engines }) = advanced.await?.map_err(StoreError::Failed)? else { return Ok(0) };
        // First, and apart: what it holds is passed over where the journal still has it.
        let write = move |transaction: &Transaction<'_>| {
            // These engines may know somebody who was forgotten since: it is done at the next time.
            if forgotten.load(Ordering::SeqCst) != forgotten_before {
                return Ok(false);
            }
            transaction.execute("DELETE FROM base", [])?;
            engines.iter().try_for_each(|(seq, engine)| engine.store_as_base(transaction, *seq))?;
            Ok(true)
        };
        if !self.database.write(write).await? {
            return Ok(0);
        }
        let mut pruned = 0;
        loop {
            let gone = self.database.write_behind(move |transaction| prune_some(transaction, before, cut)).await?;
            pruned += gone as u64;
            if gone < PRUNED_TOGETHER {
                return Ok(pruned);
            }
        }
    }
}

/// Stores something and records what the engine is to hear of it. `Err` where it cannot be recorded, or the whole commit has
/// failed.
fn store_one(
    transaction: &Transaction<'_>,
    shard: usize,
    at: Time,
    store: &Store,
) -> rusqlite::Result<Result<Vec<Input>, StoreError>> {
    match within_savepoint(transaction, "stored", |transaction| store(transaction)) {
        Ok(inputs) => {
            inputs.iter().try_for_each(|input| Record::new(at, input).insert(transaction, shard))?;
            Ok(Ok(inputs))
        }
        // SQLite has given up the whole transaction.
        Err(error) if transaction.is_autocommit() => Err(error),
        Err(error) => Ok(Err(error.into())),
    }
}

/// What the journal is to begin with when everything up to the record `cut` is gone.
struct NextBase {
    cut: i64,
    engines: Vec<(i64, EncodedEngine)>,
}

/// Lets go of all that is older than `before` and part of every snapshot. `None` if there is nothing of that kind.
fn advance_base(
    connection: &Connection,
    policies: &Policies,
    before: Time,
) -> rusqlite::Result<Result<Option<NextBase>, String>> {
    let cut = "SELECT min(
            coalesce((SELECT min(seq) FROM journal WHERE at >= ?1), (SELECT max(seq) FROM journal) + 1) - 1,
            -- The last record stays, so that its number is never given again.
            (SELECT max(seq) FROM journal) - 1,
            (SELECT min(seq) FROM snapshot))";
    let cut: Option<i64> = connection.query_row(cut, [before.0 as i64], |row| row.get(0))?;
    let first: Option<i64> = connection.query_row("SELECT min(seq) FROM journal", [], |row| row.get(0))?;
    let (Some(cut), Some(first)) = (cut, first) else { return Ok(Ok(None)) };
    if cut < first {
        return Ok(Ok(None));
    }
    let mut engines = match Engines::at_the_beginning(connection, policies)? {
        Ok(engines) => engines,
        Err(damage) => return Ok(Err(damage)),
    };
    let mut effects = Vec::new();
    for record in Records::after(connection, engines.seq())? {
        let Ok(record) = record? else { continue };
        if record.seq > cut {
            break;
        }
        if !engines.has_handled(&record) {
            engines.engine_for(&record).handle(record.at, record.input, &mut effects);
            effects.clear();
        }
    }
    Ok(Ok(Some(NextBase { cut, engines: engines.encode() })))
}

fn prune_some(transaction: &Transaction<'_>, before: Time, cut: i64) -> rusqlite::Result<usize> {
    let limit = PRUNED_TOGETHER as i64;
    transaction.execute(
        "DELETE FROM trace WHERE (room, message) IN (SELECT room, message FROM trace WHERE at < ?1 LIMIT ?2)",
        params![before.0 as i64, limit],
    )?;
    let gone = transaction.execute(
        "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal WHERE seq <= ?1 ORDER BY seq LIMIT ?2)",
        params![cut, limit],
    )?;
    transaction.execute_batch("PRAGMA incremental_vacuum(1000)")?;
    Ok(gone)
}
