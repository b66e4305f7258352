//! The embeddings of facts, and the search for similar ones.
//!
//! With the extension pgvector the server finds the nearest: exactly among few, through an index (HNSW) among many. An
//! index over all rooms may find too few of those that a reader may know; then the places of the reader are searched
//! exactly. Without the extension, the vectors of these places are read and compared here.

use aizuchi_core::memory::Fact;
use aizuchi_core::memory::rank::cosine;

use super::super::connection::PgConnection;
use super::super::error::PgResult;
use super::super::text::to_stored;
use super::table::PgMemoryTable;
use crate::memory::search::places_of;
use crate::memory::table::StoreResult;

/// From this many vectors on, those of a model are indexed.
const INDEXED_FROM: i64 = 20_000;
/// How many candidates the index returns, of which the reader may know only some.
const INDEX_CANDIDATES: usize = 400;

const HAS_COLUMN: &str = "SELECT EXISTS (SELECT 1 FROM pg_attribute
    WHERE attrelid = to_regclass('memory_vector') AND attname = 'embedding' AND NOT attisdropped)";

/// Enables vector search on the server, if it is possible. Called once the tables exist.
pub fn prepare(connection: &PgConnection) -> PgResult<()> {
    if has_column(connection)? {
        return index_models(connection);
    }
    // Without the permission to install it, or without the extension, the search works without it.
    let installed = connection.batch("CREATE EXTENSION IF NOT EXISTS vector");
    let Ok(()) = installed else { return Ok(()) };
    connection.batch("ALTER TABLE memory_vector ADD COLUMN embedding vector")?;
    fill(connection)
}

fn has_column(connection: &PgConnection) -> PgResult<bool> {
    Ok(connection.simple(HAS_COLUMN)?.as_deref() == Some("t"))
}

/// Fills the column for vectors that were stored before it existed.
fn fill(connection: &PgConnection) -> PgResult<()> {
    loop {
        let query = "SELECT fact, vector FROM memory_vector WHERE embedding IS NULL ORDER BY fact LIMIT 500";
        let rows = connection.query(query, &[])?;
        if rows.is_empty() {
            return Ok(());
        }
        for row in rows {
            let (fact, text) = (row.get::<_, i64>(0), to_text(&numbers(row.get(1))));
            let update = "UPDATE memory_vector SET embedding = $2::text::vector WHERE fact = $1";
            connection.execute(update, &[&fact, &text])?;
        }
    }
}

/// Indexes the models that have many vectors.
fn index_models(connection: &PgConnection) -> PgResult<()> {
    let many = "SELECT model, numbers FROM memory_vector GROUP BY 1, 2 HAVING count(*) >= $1 AND numbers <= 2000";
    for row in connection.query(many, &[&INDEXED_FROM])? {
        let (model, numbers): (String, i32) = (row.get(0), row.get(1));
        let create = format!(
            "CREATE INDEX IF NOT EXISTS {} ON memory_vector
            USING hnsw ((embedding::vector({numbers})) vector_cosine_ops) WHERE model = '{}' AND numbers = {numbers}",
            index_name(&model, numbers),
            model.replace('\'', "''")
        );
        connection.batch(&create)?;
    }
    Ok(())
}

fn index_name(model: &str, numbers: i32) -> String {
    format!("memory_vector_{:016x}_{numbers}", aizuchi_core::types::stable_hash(2, model))
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
        let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        let (id, model, numbers) = (fact.id.0.cast_signed(), to_stored(model), vector.len() as i32);
        let write = "INSERT INTO memory_vector (fact, model, numbers, vector, places) VALUES ($1, $2, $3, $4, $5)
            ON CONFLICT (fact) DO UPDATE SET model = excluded.model, numbers = excluded.numbers, vector = excluded.vector,
            places = excluded.places";
        self.run(write, &[&id, &model, &numbers, &bytes, &places_of(&fact.origin)])?;
        if has_column(self.0)? {
            let update = "UPDATE memory_vector SET embedding = $2::text::vector WHERE fact = $1";
            self.run(update, &[&id, &to_text(vector)])?;
        }
        Ok(())
    }
}

pub fn nearest(
    connection: &PgConnection,
    places: &[i64],
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Vec<i64>> {
    let (model, numbers, limit) = (to_stored(model), vector.len() as i32, count as i64);
    if !has_column(connection)? {
        return exactly(connection, places, &model, vector, count);
    }
    let asked = to_text(vector);
    let name = index_name(&model, numbers);
    if connection.first("SELECT 1 WHERE to_regclass($1) IS NOT NULL", &[&name])?.is_some() {
        connection.batch(&format!("SET LOCAL hnsw.ef_search = {INDEX_CANDIDATES}"))?;
        // The condition has to be literally that of the index.
        let query = format!(
            "SELECT fact FROM (SELECT fact, places FROM memory_vector WHERE model = '{}' AND numbers = {numbers}
            ORDER BY embedding::vector({numbers}) <=> $1::text::vector LIMIT {INDEX_CANDIDATES}) AS close
            WHERE places && $2 LIMIT $3",
            model.replace('\'', "''")
        );
        let found = connection.query(&query, &[&asked, &places, &limit])?;
        if found.len() == count {
            return Ok(found.iter().map(|row| row.get(0)).collect());
        }
    }
    let query = "SELECT fact FROM (
            SELECT fact, embedding FROM memory_vector WHERE places && $3 AND model = $4 AND numbers = $5 OFFSET 0
        ) AS mine ORDER BY embedding <=> $1::text::vector LIMIT $2";
    let found = connection.query(query, &[&asked, &limit, &places, &model, &numbers])?;
    Ok(found.iter().map(|row| row.get(0)).collect())
}

fn exactly(
    connection: &PgConnection,
    places: &[i64],
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Vec<i64>> {
    let query = "SELECT fact, vector FROM memory_vector WHERE places && $1 AND model = $2 AND numbers = $3";
    let rows = connection.query(query, &[&places, &model, &(vector.len() as i32)])?;
    let mut close: Vec<(f64, i64)> =
        rows.iter().map(|row| (cosine(vector, &numbers(row.get(1))), row.get(0))).collect();
    close.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    Ok(close.into_iter().take(count).map(|(_, fact)| fact).collect())
}

pub fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// In the format of pgvector.
fn to_text(vector: &[f32]) -> String {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}
