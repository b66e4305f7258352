//! The embeddings of facts, and the search for similar ones.
//!
//! With the extension pgvector the server finds the nearest. What a reader may not know is no part of any search: each server (Discord,
//! Slack) with many facts has an index of its own (HNSW, see `vector_index.rs`), and everything else that the reader may know is
//! compared, which is faster among few. So nobody pays for both. Without the extension, the vectors are read and compared here.

use aizuchi_core::memory::Fact;
use aizuchi_core::memory::rank::cosine;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use super::super::connection::{PgConnection, Value};
use super::super::error::PgResult;
use super::super::text::to_stored;
use super::table::PgMemoryTable;
use super::vector_index::{index_name, indexed_values, usable_indexes};
use crate::memory::search::places_of;
use crate::memory::table::StoreResult;

/// How many candidates the search through an index considers. More finds more of the nearest and takes longer.
const CONSIDERED: usize = 200;

/// Whether the server has the column by which it compares, and whether it has every vector.
const STATE: &str = "SELECT EXISTS (SELECT 1 FROM pg_attribute
    WHERE attrelid = to_regclass('memory_vector') AND attname = 'embedding' AND NOT attisdropped),
    to_regclass('memory_vector_unfilled') IS NULL";

/// Where vectors can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorState {
    /// The server has no column for it.
    Here,
    /// The column still lacks vectors that were stored before it existed.
    Filling,
    OnServer,
}

pub fn state(connection: &PgConnection) -> PgResult<VectorState> {
    let row = connection.one(STATE, &[])?;
    Ok(match (row.get(0), row.get(1)) {
        (false, _) => VectorState::Here,
        (true, false) => VectorState::Filling,
        (true, true) => VectorState::OnServer,
    })
}

/// Whether vectors are stored in the column of the server too.
pub fn compares_on_server(connection: &PgConnection) -> PgResult<bool> {
    Ok(state(connection)? != VectorState::Here)
}

/// Enables vector search on the server, if it is possible. Called once the tables exist, by one program at a time.
pub fn prepare(connection: &PgConnection) -> PgResult<()> {
    if state(connection)? == VectorState::Here {
        // Without the permission to install it, or without the extension, the search works without it.
        let installed = connection.batch("CREATE EXTENSION IF NOT EXISTS vector");
        let Ok(()) = installed else { return Ok(()) };
        connection.batch("ALTER TABLE memory_vector ADD COLUMN IF NOT EXISTS embedding vector")?;
    }
    let storage = "SELECT attstorage::text FROM pg_attribute
        WHERE attrelid = to_regclass('memory_vector') AND attname = 'embedding' AND NOT attisdropped";
    if connection.simple(storage)?.as_deref() == Some("m") {
        return Ok(());
    }
    // Within its row, a vector is compared four times as fast. What is missing is filled in beside the running program.
    connection.batch(
        "BEGIN; ALTER TABLE memory_vector ALTER COLUMN embedding SET STORAGE MAIN;
        CREATE INDEX IF NOT EXISTS memory_vector_unfilled ON memory_vector (fact) WHERE embedding IS NULL; COMMIT",
    )
}

/// What could be improved, and how.
pub fn advice(connection: &PgConnection) -> PgResult<Option<(String, String)>> {
    let installed = "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector')";
    Ok(match connection.simple(installed)?.as_deref() {
        Some("t") => None,
        _ => Some((
            "the extension pgvector is not installed: facts are compared by meaning in this program, which is slow among many"
                .into(),
            "install pgvector on the server and run CREATE EXTENSION vector in the database, if memory.vectors is on".into(),
        )),
    })
}

impl PgMemoryTable<'_> {
    pub(super) fn store_vector(&self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        let (id, model, numbers) = (fact.id.0.cast_signed(), to_stored(model), vector.len() as i32);
        let (bytes, places, embedding) = (to_bytes(vector), places_of(&fact.origin), PgVector(vector));
        let mut values: Vec<Value<'_>> = vec![&id, &model, &numbers, &bytes, &places];
        let (mut column, mut mark, mut set) = ("", "", "");
        if compares_on_server(self.0)? {
            (column, mark, set) = (", embedding", ", $6", ", embedding = excluded.embedding");
            values.push(&embedding);
        }
        let write = format!(
            "INSERT INTO memory_vector (fact, model, numbers, vector, places{column}) VALUES ($1, $2, $3, $4, $5{mark})
            ON CONFLICT (fact) DO UPDATE SET model = excluded.model, numbers = excluded.numbers, vector = excluded.vector,
            places = excluded.places{set}"
        );
        self.run(&write, &values)
    }
}

pub fn nearest(
    connection: &PgConnection,
    places: &[i64],
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Vec<i64>> {
    let (model, numbers) = (to_stored(model), vector.len() as i32);
    if state(connection)? != VectorState::OnServer {
        return compare_here(connection, places, &model, vector, count);
    }
    let names: Vec<String> = places.iter().map(|place| index_name(&model, numbers, *place)).collect();
    let usable = usable_indexes(connection, &names)?;
    let (indexed, others): (Vec<_>, Vec<_>) = places.iter().zip(&names).partition(|(_, name)| usable.contains(*name));
    let mut close = Vec::new();
    for (place, _) in indexed {
        close.extend(through_index(connection, *place, &model, vector, count)?);
    }
    let others: Vec<i64> = others.into_iter().map(|(place, _)| *place).collect();
    if !others.is_empty() {
        close.extend(compare_on_server(connection, &others, &model, vector, count)?);
    }
    Ok(first_of(close, count))
}

/// The distances of facts.
type Close = Vec<(f64, i64)>;

fn through_index(
    connection: &PgConnection,
    place: i64,
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Close> {
    // The conditions have to be literally those of the index.
    let numbers = vector.len();
    let query = format!(
        "SELECT embedding::vector({numbers}) <=> $1, fact FROM memory_vector WHERE {}
        ORDER BY embedding::vector({numbers}) <=> $1 LIMIT $2",
        indexed_values(model, numbers as i32, place)
    );
    // Nothing but the index returns them in this order.
    let set = format!(
        "SELECT set_config('hnsw.ef_search', '{}', true), set_config('enable_sort', 'off', true)",
        CONSIDERED.max(count)
    );
    let found = connection.pipeline(&[
        (&set, &[]),
        (&query, &[&PgVector(vector), &(count as i64)]),
        ("SELECT set_config('enable_sort', 'on', true)", &[]),
    ])?;
    Ok(found[1].iter().map(|row| (row.get(0), row.get(1))).collect())
}

/// `OFFSET 0` keeps the server from comparing before it knows what the reader may know.
fn compare_on_server(
    connection: &PgConnection,
    places: &[i64],
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Close> {
    let query = "SELECT embedding <=> $1 AS distance, fact FROM (
            SELECT fact, embedding FROM memory_vector WHERE places && $3 AND model = $4 AND numbers = $5 OFFSET 0
        ) AS known ORDER BY distance LIMIT $2";
    let values: &[Value<'_>] = &[&PgVector(vector), &(count as i64), &places, &model, &(vector.len() as i32)];
    Ok(connection.query(query, values)?.iter().map(|row| (row.get(0), row.get(1))).collect())
}

fn compare_here(
    connection: &PgConnection,
    places: &[i64],
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Vec<i64>> {
    let query = "SELECT fact, vector FROM memory_vector WHERE places && $1 AND model = $2 AND numbers = $3";
    let rows = connection.query(query, &[&places, &model, &(vector.len() as i32)])?;
    Ok(first_of(rows.iter().map(|row| (1.0 - cosine(vector, &numbers(row.get(1))), row.get(0))).collect(), count))
}

/// A fact may be found in several places.
fn first_of(mut close: Close, count: usize) -> Vec<i64> {
    close.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    close.dedup_by_key(|(_, fact)| *fact);
    close.into_iter().take(count).map(|(_, fact)| fact).collect()
}

pub fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

pub fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A value of pgvector's type, as it is sent.
#[derive(Debug)]
pub struct PgVector<V: AsRef<[f32]>>(pub V);

impl<V: AsRef<[f32]> + std::fmt::Debug> ToSql for PgVector<V> {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        let numbers = self.0.as_ref();
        let count = u16::try_from(numbers.len()).map_err(|_| "a vector has more numbers than pgvector allows")?;
        out.extend_from_slice(&count.to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        kind.name() == "vector"
    }

    to_sql_checked!();
}
