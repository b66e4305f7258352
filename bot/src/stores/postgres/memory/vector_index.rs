//! Keeps vectors quick to search: fills the column of the server, and gives each place with many vectors an index of its own.
//!
//! Both may take minutes, so they run beside everything else, on a thread and a connection of their own, once after a start and then
//! every hour. Code that needs the tables alone, to write them anew, interrupts that ([`take_tables`]) and has it go on afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi_core::types::stable_hash;

use super::super::connection::PgConnection;
use super::super::error::{PgError, PgResult};
use super::super::target::PgTarget;
use super::vectors::{PgVector, VectorState, numbers, state};
use crate::stores::StoreError;

/// From this many vectors of a model on, those of a place are indexed: comparing so many takes as long as a search through the index.
pub const INDEXED_FROM: u32 = 20_000;
/// A place keeps its index until it has only this part of that.
const KEPT_FROM_PART: u32 = 2;
/// Longer vectors cannot be indexed by pgvector.
const NUMBERS_MAX: i32 = 2_000;
/// Vectors that are filled in together.
const FILLED_TOGETHER: i64 = 1_000;

const LOOKS_EVERY: Duration = Duration::from_hours(1);
const TRIES_EVERY: Duration = Duration::from_secs(10);
const ENDS_EVERY: Duration = Duration::from_millis(20);

/// Held while vectors are indexed, and while tables are written anew.
const INDEXER_LOCK: i64 = 0x6169_7a75_6368_6934;
const INDEXER: &str = "aizuchi indexer";

/// Wakes what indexes. It ends with the last of these.
#[derive(Clone)]
pub struct VectorIndexer(Sender<()>);

impl VectorIndexer {
    pub fn start(server: Arc<Mutex<PgTarget>>, indexed_from: u32) -> VectorIndexer {
        let (wake, woken) = mpsc::channel();
        let work = move || keep_indexed(&server, indexed_from, &woken);
        if let Err(error) = std::thread::Builder::new().name("vectors".into()).spawn(work) {
            tracing::warn!(%error, "embeddings are not indexed");
        }
        VectorIndexer(wake)
    }

    /// Has it look again now.
    pub fn wake(&self) {
        // Without its thread there is nothing to wake.
        let _ = self.0.send(());
    }
}

fn keep_indexed(server: &Mutex<PgTarget>, indexed_from: u32, woken: &Receiver<()>) {
    loop {
        let target = server.lock().expect("it is only assigned").clone();
        let done = PgConnection::connect(&target, INDEXER).and_then(|connection| index(&connection, indexed_from));
        let wait = match done {
            Ok(()) => LOOKS_EVERY,
            Err(error) => {
                let (wait, error) =
                    (if error.is_passing() { TRIES_EVERY } else { LOOKS_EVERY }, StoreError::from(error));
                tracing::debug!(%error, "could not index embeddings; trying again in {} s", wait.as_secs());
                wait
            }
        };
        if woken.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected) {
            return;
        }
    }
}

/// Fills and indexes, unless another program is at it. Nothing is left half done that the next time would not repair.
pub fn index(connection: &PgConnection, indexed_from: u32) -> PgResult<()> {
    if state(connection)? == VectorState::Here || !takes_lock(connection)? {
        return Ok(());
    }
    let done = fill(connection).and_then(|()| index_places(connection, indexed_from));
    connection.batch(&format!("SELECT pg_advisory_unlock({INDEXER_LOCK})"))?;
    done
}

fn takes_lock(connection: &PgConnection) -> PgResult<bool> {
    Ok(connection.simple(&format!("SELECT pg_try_advisory_lock({INDEXER_LOCK})"))?.as_deref() == Some("t"))
}

/// Fills the column for vectors that were stored before it existed. Searches use it once nothing is missing.
fn fill(connection: &PgConnection) -> PgResult<()> {
    if state(connection)? == VectorState::Filling {
        fill_all(connection)?;
    }
    // Not sooner: a long read would keep everybody else waiting.
    connection.batch("DROP INDEX CONCURRENTLY IF EXISTS memory_vector_filled")
}

fn fill_all(connection: &PgConnection) -> PgResult<()> {
    let query = "SELECT fact, vector FROM memory_vector WHERE embedding IS NULL ORDER BY fact LIMIT $1";
    // What was written meanwhile has its own already.
    let update = "UPDATE memory_vector AS v SET embedding = given.embedding
        FROM unnest($1::bigint[], $2::vector[]) AS given (fact, embedding) WHERE v.fact = given.fact AND v.embedding IS NULL";
    let mut filled = 0;
    loop {
        let rows = connection.query(query, &[&FILLED_TOGETHER])?;
        if rows.is_empty() {
            break;
        }
        let facts: Vec<i64> = rows.iter().map(|row| row.get(0)).collect();
        let vectors: Vec<PgVector<Vec<f32>>> = rows.iter().map(|row| PgVector(numbers(row.get(1)))).collect();
        filled += connection.execute(update, &[&facts, &vectors])?;
    }
    // Under a lock, so that nobody adds one without after it was looked for.
    connection.batch("BEGIN; LOCK TABLE memory_vector IN SHARE ROW EXCLUSIVE MODE")?;
    let is_missing = "SELECT EXISTS (SELECT 1 FROM memory_vector WHERE embedding IS NULL)";
    let done = match connection.simple(is_missing)?.as_deref() {
        Some("f") => connection.batch("ALTER INDEX memory_vector_unfilled RENAME TO memory_vector_filled; COMMIT"),
        _ => connection.batch("ROLLBACK"),
    };
    tracing::info!(filled, "the server can compare all embeddings");
    done
}

/// The indexes there are, and whether each can be used.
pub fn existing(connection: &PgConnection) -> PgResult<BTreeMap<String, bool>> {
    let query = "SELECT c.relname::text, i.indisvalid FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        JOIN pg_am AS a ON a.oid = c.relam WHERE i.indrelid = to_regclass('memory_vector') AND a.amname = 'hnsw'";
    Ok(connection.query(query, &[])?.iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// Those of these indexes that can be used.
pub fn usable_indexes(connection: &PgConnection, names: &[String]) -> PgResult<BTreeSet<String>> {
    let query = "SELECT c.relname::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
        WHERE i.indrelid = to_regclass('memory_vector') AND i.indisvalid AND c.relname::text = ANY ($1)";
    Ok(connection.query(query, &[&names])?.iter().map(|row| row.get(0)).collect())
}

fn index_places(connection: &PgConnection, indexed_from: u32) -> PgResult<()> {
    let there = existing(connection)?;
    if there.is_empty() && has_few(connection, indexed_from)? {
        return Ok(());
    }
    let many = format!(
        "SELECT model, numbers, place, count(*) FROM memory_vector, unnest(places) AS p (place)
        WHERE numbers BETWEEN 1 AND {NUMBERS_MAX} GROUP BY 1, 2, 3 HAVING count(*) >= $1"
    );
    let mut wanted = BTreeMap::new();
    for row in connection.query(&many, &[&i64::from(indexed_from / KEPT_FROM_PART)])? {
        let (model, numbers, place, count): (String, i32, i64, i64) = (row.get(0), row.get(1), row.get(2), row.get(3));
        let name = index_name(&model, numbers, place);
        if count >= i64::from(indexed_from) || there.get(&name) == Some(&true) {
            wanted.insert(name, (numbers, indexed_values(&model, numbers, place)));
        }
    }
    for (name, _) in there.iter().filter(|(name, usable)| !**usable || !wanted.contains_key(*name)) {
        connection.batch(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"))?;
    }
    prepare_to_build(connection)?;
    for (name, (numbers, values)) in wanted.iter().filter(|(name, _)| there.get(*name) != Some(&true)) {
        tracing::info!(index = %name, "indexing embeddings");
        connection.batch(&format!(
            "CREATE INDEX CONCURRENTLY {name} ON memory_vector
            USING hnsw ((embedding::vector({numbers})) vector_cosine_ops) WHERE {values}"
        ))?;
    }
    Ok(())
}

/// Whether there are certainly too few, without counting.
fn has_few(connection: &PgConnection, indexed_from: u32) -> PgResult<bool> {
    let query = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('memory_vector')";
    let about: f32 = connection.one(query, &[])?.get(0);
    Ok(about > 0.0 && f64::from(about) < f64::from(indexed_from / KEPT_FROM_PART))
}

/// An index that does not fit into memory while it is built takes ten times as long; one that nobody waits for any more ends.
fn prepare_to_build(connection: &PgConnection) -> PgResult<()> {
    connection.batch("SET statement_timeout = 0")?;
    connection.simple(
        "SELECT set_config('maintenance_work_mem', '256MB', false)
        WHERE pg_size_bytes(current_setting('maintenance_work_mem')) < pg_size_bytes('256MB')",
    )?;
    match connection.batch("SET client_connection_check_interval = '5s'") {
        // Not every system of a server can tell.
        Ok(()) | Err(PgError::Final(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// No longer than names may be.
pub fn index_name(model: &str, numbers: i32, place: i64) -> String {
    let of_model = stable_hash(2, &format!("{numbers} {model}"));
    format!("memory_vector_{of_model:016x}_{:016x}", place.cast_unsigned())
}

/// The vectors of an index, as its condition.
pub fn indexed_values(model: &str, numbers: i32, place: i64) -> String {
    let model = model.replace('\'', "''");
    format!("model = '{model}' AND numbers = {numbers} AND places @> '{{{place}}}'::bigint[]")
}

/// Who may have the tables alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The end of the transaction.
    Transaction,
    /// [`give_tables_back`].
    Given,
}

/// Ends what is being indexed, and keeps it from starting: the tables are to be written anew, which would wait for it.
pub fn take_tables(connection: &PgConnection, until: Until) -> PgResult<()> {
    let lock = match until {
        Until::Transaction => format!("SELECT pg_try_advisory_xact_lock({INDEXER_LOCK})"),
        Until::Given => format!("SELECT pg_try_advisory_lock({INDEXER_LOCK})"),
    };
    let end = format!(
        "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND application_name = '{INDEXER}'"
    );
    while !connection.one(&lock, &[])?.get::<_, bool>(0) {
        connection.query(&end, &[])?;
        std::thread::sleep(ENDS_EVERY);
    }
    Ok(())
}

pub fn give_tables_back(connection: &PgConnection) -> PgResult<()> {
    connection.batch(&format!("SELECT pg_advisory_unlock({INDEXER_LOCK})"))
}

/// Removes the indexes, before the table is written anew: making them takes long, and is done later, when nobody waits.
pub fn drop_indexes(connection: &PgConnection) -> PgResult<()> {
    existing(connection)?.keys().try_for_each(|name| connection.batch(&format!("DROP INDEX IF EXISTS {name}")))
}
