//! The engines that the journal's records make: one for each shard, dealt out anew where the number of shards changed.
//!
//! A record names the shard that handled it. Which rooms that shard had follows from the number of shards then, and that
//! number is part of the settings, which each start writes down before anything else happens. So whoever goes through the
//! records in their order always knows which engine a record belongs to.

use aizuchi_core::engine::Snapshot;
use aizuchi_core::memory::Recognizer;
use aizuchi_core::policy::Stated;
use aizuchi_core::{Engine, Input, Policies, Time};
use rusqlite::{Connection, Transaction, params};

use super::read::Record;
use super::record::sum;
use crate::runtime::shard_of;

/// The engines after some of the records.
pub struct Engines(Vec<Reached>);

/// An engine, and the last record it has handled or need not handle.
struct Reached {
    seq: i64,
    engine: Engine,
}

/// A stored engine.
struct StoredEngine {
    shard: usize,
    seq: i64,
    /// How many shards there were; `None` if its settings cannot be read.
    shards: Option<usize>,
    engine: Engine,
}

/// Where engines are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EngineTable {
    /// Before the first record that is kept.
    Base,
    /// After a record, so that a start need not read from the beginning.
    Snapshot,
}

impl EngineTable {
    fn name(self) -> &'static str {
        match self {
            EngineTable::Base => "base",
            EngineTable::Snapshot => "snapshot",
        }
    }
}

impl Engines {
    /// Nothing has happened yet.
    pub fn fresh(policies: &Policies) -> Engines {
        let shards = policies.general().settings.runtime.shards as usize;
        Engines((0..shards).map(|_| Reached::fresh(policies)).collect())
    }

    /// The engines as they were snapshotted; `Err` says why they cannot be used. `Ok(None)` if there are none.
    pub fn snapshotted(
        connection: &Connection,
        policies: &Policies,
    ) -> rusqlite::Result<Result<Option<Engines>, String>> {
        let stored = match read_table(connection, EngineTable::Snapshot, policies)? {
            Ok(stored) => stored,
            Err(damage) => return Ok(Err(damage)),
        };
        let Some(count) = stored.first().map(|first| first.shards) else { return Ok(Ok(None)) };
        // Engines of other shards hold the other rooms: a part of them is worth nothing.
        let whole = stored.len() == count.unwrap_or(stored.len())
            && stored.iter().enumerate().all(|(shard, engine)| engine.shard == shard && engine.shards == count);
        if !whole {
            let found: Vec<String> = stored.iter().map(|engine| engine.shard.to_string()).collect();
            return Ok(Err(format!("only shard {} was snapshotted", found.join(", "))));
        }
        let reached = stored.into_iter().map(|StoredEngine { seq, engine, .. }| Reached { seq, engine });
        Ok(Ok(Some(Engines(reached.collect()))))
    }

    /// The engines that the first record kept here finds; fresh ones where no record was ever let go of.
    pub fn at_the_beginning(connection: &Connection, policies: &Policies) -> rusqlite::Result<Result<Engines, String>> {
        // A store that no program of today has opened yet.
        if !connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'base'")?.exists([])? {
            return Ok(Ok(Engines::fresh(policies)));
        }
        let stored = match read_table(connection, EngineTable::Base, policies)? {
            Ok(stored) => stored,
            Err(damage) => return Ok(Err(damage)),
        };
        let Some(last) = stored.last() else { return Ok(Ok(Engines::fresh(policies))) };
        let count = last.shards.unwrap_or(0).max(last.shard + 1);
        let mut engines = Engines((0..count).map(|_| Reached::fresh(policies)).collect());
        for StoredEngine { shard, seq, engine, .. } in stored {
            engines.0[shard] = Reached { seq, engine };
        }
        Ok(Ok(engines))
    }

    /// Whether what came of this record is known already.
    pub fn has_handled(&self, record: &Record) -> bool {
        self.0.get(record.shard as usize).is_some_and(|reached| record.seq <= reached.seq)
    }

    /// Up to here every engine has handled its records.
    pub fn seq(&self) -> i64 {
        self.0.iter().map(|reached| reached.seq).min().unwrap_or(0)
    }

    /// The engine that handles this record next.
    pub fn engine_for(&mut self, record: &Record) -> &mut Engine {
        if let Input::PolicyChanged(stated) = &record.input
            && stated.shards() != self.0.len()
        {
            self.deal(stated.shards(), record.seq - 1);
        }
        let shard = record.shard as usize;
        if shard >= self.0.len() {
            let policies = self.0[0].engine.policies().clone();
            self.0.resize_with(shard + 1, || Reached::fresh(&policies));
        }
        self.0[shard].seq = record.seq;
        // Settings that were to hold from the next start on were once recorded at once: the room may be elsewhere.
        let knows = |reached: &Reached| record.input.room().is_none_or(|room| reached.engine.knows(room));
        let holder = if knows(&self.0[shard]) { shard } else { self.0.iter().position(knows).unwrap_or(shard) };
        &mut self.0[holder].engine
    }

    /// Another number of shards: the rooms are dealt out anew.
    fn deal(&mut self, shards: usize, seq: i64) {
        let policies = self.0[0].engine.policies().clone();
        let parts = split(std::mem::take(&mut self.0).into_iter().map(|reached| reached.engine), shards);
        let restore = |part| Engine::restore(policies.clone(), part).expect("a snapshot just taken is of this version");
        self.0 = parts.into_iter().map(|part| Reached { seq, engine: restore(part) }).collect();
    }

    /// One for each of `shards`, under these policies.
    pub fn into_engines(self, policies: &Policies, shards: usize) -> Vec<Engine> {
        let parts = split(self.0.into_iter().map(|reached| reached.engine), shards);
        let restore = |part| Engine::restore(policies.clone(), part).expect("a snapshot just taken is of this version");
        parts.into_iter().map(restore).collect()
    }

    /// Whether no record was handled by any of them.
    pub fn is_fresh(&self) -> bool {
        self.0.iter().all(|reached| reached.seq == 0)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn policies(&self) -> Stated {
        self.0[0].engine.policies().stated()
    }

    pub fn forget(&mut self, theirs: &Recognizer<'_>) {
        for reached in &mut self.0 {
            reached.engine.forget(Time(0), theirs, &mut Vec::new());
        }
    }

    /// Ready to be stored as what the journal begins with.
    pub fn encode(&self) -> Vec<(i64, EncodedEngine)> {
        let encode = |(shard, reached): (usize, &Reached)| {
            let (policies, snapshot) = (reached.engine.policies().stated(), reached.engine.snapshot());
            (reached.seq, EncodedEngine::new(shard, self.count(), &policies, &snapshot))
        };
        self.0.iter().enumerate().map(encode).collect()
    }
}

fn split(engines: impl Iterator<Item = Engine>, shards: usize) -> Vec<Snapshot> {
    Snapshot::joined(engines.map(Engine::into_snapshot)).split(shards, |room| shard_of(room, shards))
}

impl Reached {
    fn fresh(policies: &Policies) -> Reached {
        Reached { seq: 0, engine: Engine::new(policies.clone()) }
    }
}

/// An engine ready to be stored.
pub struct EncodedEngine {
    shard: usize,
    /// How many there are in all.
    shards: usize,
    policies: String,
    body: String,
}

impl EncodedEngine {
    pub fn new(shard: usize, shards: usize, policies: &Stated, snapshot: &Snapshot) -> EncodedEngine {
        let policies = serde_json::to_string(policies).expect("settings are plain data");
        let body = serde_json::to_string(snapshot).expect("a snapshot is plain data");
        EncodedEngine { shard, shards, policies, body }
    }

    /// As what the journal begins with, when the records up to `seq` are gone.
    pub fn store_as_base(&self, transaction: &Transaction<'_>, seq: i64) -> rusqlite::Result<()> {
        let insert = "INSERT OR REPLACE INTO base (shard, seq, policies, body, sum, shards)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let row = params![self.shard as i64, seq, self.policies, self.body, sum(&self.body), self.shards as i64];
        transaction.prepare_cached(insert)?.execute(row).map(drop)
    }

    /// As it is now, when everything that is recorded of its shard has been handled.
    pub fn store_as_snapshot(&self, transaction: &Transaction<'_>, seq: i64, at: Time) -> rusqlite::Result<()> {
        let insert = "INSERT OR REPLACE INTO snapshot (shard, seq, at, policies, body, sum, shards)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let (shard, shards) = (self.shard as i64, self.shards as i64);
        let row = params![shard, seq, at.0 as i64, self.policies, self.body, sum(&self.body), shards];
        transaction.prepare_cached(insert)?.execute(row).map(drop)
    }
}

/// The last record there is.
pub fn last_seq(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT coalesce(max(seq), 0) FROM journal", [], |row| row.get(0))
}

/// In the order of their shards. `Err` within says what is damaged.
fn read_table(
    connection: &Connection,
    table: EngineTable,
    policies: &Policies,
) -> rusqlite::Result<Result<Vec<StoredEngine>, String>> {
    let name = table.name();
    // Stores of older versions have neither checksum nor number yet.
    let columns = match connection.prepare(&format!("SELECT sum, shards FROM {name}")) {
        Ok(_) => "sum, shards",
        Err(_) => "NULL, NULL",
    };
    let query = format!("SELECT shard, seq, policies, body, {columns} FROM {name} ORDER BY shard");
    let mut statement = connection.prepare(&query)?;
    let rows = statement.query_map([], |row| {
        let text = |column: usize| -> rusqlite::Result<Vec<u8>> {
            Ok(row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default().to_vec())
        };
        let (sum, shards) = (row.get::<_, Option<i64>>(4)?, row.get::<_, Option<i64>>(5)?);
        Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, text(2)?, text(3)?, sum, shards))
    })?;
    let mut stored = Vec::new();
    for row in rows {
        let (shard, seq, stated, body, expected, shards) = row?;
        match read_engine(&stated, &body, expected, policies) {
            Ok(engine) => {
                let shards = shards.map(|shards| shards as usize).or_else(|| stated_shards(&stated));
                stored.push(StoredEngine { shard: shard as usize, seq, shards, engine });
            }
            Err(damage) => return Ok(Err(format!("the {name} of shard {shard} is damaged: {damage}"))),
        }
    }
    Ok(Ok(stored))
}

/// Older versions say only in the settings how many there are.
fn stated_shards(stated: &[u8]) -> Option<usize> {
    let stated: serde_json::Value = serde_json::from_slice(stated).ok()?;
    stated.pointer("/general/0/runtime/shards")?.as_u64().map(|shards| shards as usize)
}

fn read_engine(stated: &[u8], body: &[u8], expected: Option<i64>, policies: &Policies) -> Result<Engine, String> {
    let body = std::str::from_utf8(body).map_err(|_| "not UTF-8")?;
    if expected.is_some_and(|expected| expected != sum(body)) {
        return Err("wrong checksum".into());
    }
    let snapshot: Snapshot = serde_json::from_str(body).map_err(|error| error.to_string())?;
    // Settings of another version of this program may not be readable: today's hold.
    let held = serde_json::from_slice::<Stated>(stated).map_or_else(|_| policies.clone(), Policies::from);
    Engine::restore(held, snapshot)
}
