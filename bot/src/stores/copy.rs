//! Copies everything from one store into another.
//!
//! The source is read as of one moment, so that a program may keep writing to it. Rows are copied in the order of their
//! keys, in parts; each part is a commit that may be repeated. An interrupted copy continues after the last row in the
//! destination, once it is certain that the destination is a prefix of the source. In the end both sides are counted and
//! summed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Person, Tie};
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::Xxh3;

use super::StoreError;
use crate::ports::{Cell, CopyRow, CopyScope, CopySource, CopyStore, CopyTable};

/// How many rows are read and written at once.
const PART: usize = 1_000;

/// The progress of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyProgress {
    pub table: &'static str,
    pub rows: u64,
    pub of: u64,
}

/// The result of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopySummary {
    pub rows: u64,
    /// How many of these existed already.
    pub found: u64,
    /// By table.
    pub counts: Vec<(&'static str, u64)>,
}

/// Why a copy is not complete.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    /// Nothing was written.
    #[error(
        "the destination has records in {table} that the source does not have: choose an empty one, or empty it with --replace"
    )]
    Refused { table: &'static str },
    #[error("{table} was not copied whole: {found} rows of {of} arrived, or some differ; run it again")]
    Differs { table: &'static str, found: u64, of: u64 },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<CopyError> for StoreError {
    fn from(error: CopyError) -> StoreError {
        match error {
            CopyError::Store(error) => error,
            other @ (CopyError::Refused { .. } | CopyError::Differs { .. }) => StoreError::Failed(other.to_string()),
        }
    }
}

/// A summary of rows that does not depend on their order: how many, and the sum of their checksums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Digest {
    count: u64,
    sum: u64,
}

impl Digest {
    fn add(&mut self, row: &[Cell]) {
        let mut hash = Xxh3::new();
        for cell in row {
            match cell {
                Cell::Null => hash.update(&[0]),
                Cell::Integer(number) => {
                    hash.update(&[1]);
                    hash.update(&number.to_le_bytes());
                }
                Cell::Text(text) => {
                    hash.update(&[2]);
                    hash.update(&(text.len() as u64).to_le_bytes());
                    hash.update(text.as_bytes());
                }
                Cell::Bytes(bytes) => {
                    hash.update(&[3]);
                    hash.update(&(bytes.len() as u64).to_le_bytes());
                    hash.update(bytes);
                }
            }
        }
        self.count += 1;
        self.sum = self.sum.wrapping_add(hash.digest());
    }
}

/// Decodes a row of `memory_fact`.
pub fn decode_fact(row: &[Cell]) -> Result<Fact, StoreError> {
    decode_body("a fact", row)
}

/// Decodes the body of a row, which is its last column.
fn decode_body<T: DeserializeOwned>(what: &str, row: &[Cell]) -> Result<T, StoreError> {
    let unreadable = |why: String| StoreError::Failed(format!("cannot read {what}: {why}"));
    match row.last() {
        Some(Cell::Text(body)) => serde_json::from_str(body).map_err(|error| unreadable(error.to_string())),
        Some(Cell::Null | Cell::Integer(_) | Cell::Bytes(_)) | None => Err(unreadable("it has no body".into())),
    }
}

/// Whether the destination of a copy can make of a row what it says.
fn check_row(table: &CopyTable, row: &[Cell]) -> Result<(), StoreError> {
    match table.name {
        "memory_fact" => decode_fact(row).map(drop),
        "memory_vector" => decode_vector(row).map(drop),
        "memory_channel" => decode_body::<ChannelMemory>("what a channel is about", row).map(drop),
        "memory_person" => decode_body::<Person>("a person", row).map(drop),
        "memory_tie" => decode_body::<Tie>("a tie", row).map(drop),
        _ => Ok(()),
    }
}

/// Decodes a row of `memory_vector`: the fact, the model and the vector.
pub fn decode_vector(row: &[Cell]) -> Result<(FactId, &str, Vec<f32>), StoreError> {
    match row {
        [Cell::Integer(fact), Cell::Text(model), Cell::Bytes(bytes)] => {
            let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            Ok((FactId(fact.cast_unsigned()), model, numbers))
        }
        _ => Err(StoreError::Failed("cannot read a vector".into())),
    }
}

type Source = Arc<Mutex<Box<dyn CopySource>>>;

pub async fn copy(
    from: &dyn CopyStore,
    to: &dyn CopyStore,
    scope: CopyScope,
    progress: &mut (dyn FnMut(CopyProgress) + Send),
) -> Result<CopySummary, CopyError> {
    let source: Source = Arc::new(Mutex::new(from.source().await?));
    // Nothing is lost by marking an empty one: no program is to start on it while the source is still being read.
    if scope == CopyScope::Everything && is_empty(to, scope).await? {
        to.set_partial(true).await?;
    }
    // All tables are checked first, so that a refusal comes before anything is written.
    let mut there = Vec::new();
    for table in scope.tables() {
        there.push(match (scope.merges(table), to.derives(table)) {
            (true, _) => 0,
            (false, true) => count(&Arc::new(Mutex::new(to.source().await?)), table).await?,
            (false, false) => beginning(&source, to, table).await?,
        });
    }
    if scope == CopyScope::Everything {
        to.set_partial(true).await?;
    }
    let mut summary = CopySummary::default();
    for (table, mut found) in scope.tables().zip(there) {
        let mut of = count(&source, table).await?;
        let mut last: Option<CopyRow> = None;
        let mut all = Digest::default();
        loop {
            let rows = read(&source, table, last.take()).await?;
            let Some(end) = rows.last() else { break };
            last = Some(end[..table.key].to_vec());
            let part = rows.len() as u64;
            rows.iter().for_each(|row| all.add(row));
            if all.count > found {
                to.put(table, rows).await?;
            }
            of = of.max(all.count);
            progress(CopyProgress { table: table.name, rows: all.count, of });
            // A table without a key has one row.
            if table.key == 0 || part < PART as u64 {
                break;
            }
        }
        found = found.min(all.count);
        match scope.merges(table) {
            true => verify_merged(&source, to, table).await?,
            false => verify(to, table, all).await?,
        }
        summary.rows += all.count;
        summary.found += found;
        summary.counts.push((table.name, all.count));
    }
    if scope == CopyScope::Everything {
        to.set_partial(false).await?;
    }
    Ok(summary)
}

/// Reads everything that a copy would, and writes nothing. Returns how many rows there are.
pub async fn check_readable(from: &dyn CopyStore, scope: CopyScope) -> Result<u64, StoreError> {
    let source: Source = Arc::new(Mutex::new(from.source().await?));
    let mut count = 0;
    for table in scope.tables() {
        let mut last = None;
        loop {
            let rows = read(&source, table, last.take()).await?;
            rows.iter().try_for_each(|row| check_row(table, row))?;
            count += rows.len() as u64;
            let Some(end) = rows.last().filter(|_| table.key > 0 && rows.len() == PART) else { break };
            last = Some(end[..table.key].to_vec());
        }
    }
    Ok(count)
}

async fn is_empty(store: &dyn CopyStore, scope: CopyScope) -> Result<bool, StoreError> {
    let there: Source = Arc::new(Mutex::new(store.source().await?));
    for table in scope.tables().filter(|table| table.key > 0) {
        if !read(&there, table, None).await?.is_empty() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// How many rows are there already. `Err` if they are not a beginning of the source.
async fn beginning(source: &Source, to: &dyn CopyStore, table: &'static CopyTable) -> Result<u64, CopyError> {
    if table.key == 0 {
        return Ok(0);
    }
    let there: Source = Arc::new(Mutex::new(to.source().await?));
    let (mut last, mut count): (Option<CopyRow>, u64) = (None, 0);
    loop {
        let (of_source, of_target) = (read(source, table, last.clone()).await?, read(&there, table, last).await?);
        let Some(end) = of_target.last() else { return Ok(count) };
        if !of_source.starts_with(&of_target) {
            return Err(CopyError::Refused { table: table.name });
        }
        last = Some(end[..table.key].to_vec());
        count += of_target.len() as u64;
        if of_target.len() < PART {
            return Ok(count);
        }
    }
}

async fn verify(to: &dyn CopyStore, table: &'static CopyTable, expected: Digest) -> Result<(), CopyError> {
    let there: Source = Arc::new(Mutex::new(to.source().await?));
    let (mut found, mut last) = (Digest::default(), None);
    loop {
        let rows = read(&there, table, last.take()).await?;
        let Some(end) = rows.last() else { break };
        last = Some(end[..table.key].to_vec());
        rows.iter().for_each(|row| found.add(row));
        if table.key == 0 || rows.len() < PART {
            break;
        }
    }
    if found == expected {
        return Ok(());
    }
    Err(CopyError::Differs { table: table.name, found: found.count, of: expected.count })
}

/// Whether all rows arrived in addition to those that existed.
async fn verify_merged(source: &Source, to: &dyn CopyStore, table: &'static CopyTable) -> Result<(), CopyError> {
    let there: Source = Arc::new(Mutex::new(to.source().await?));
    let (wanted, there) = (read_all(source, table).await?, read_all(&there, table).await?);
    let (found, of) = (wanted.intersection(&there).count() as u64, wanted.len() as u64);
    if found == of { Ok(()) } else { Err(CopyError::Differs { table: table.name, found, of }) }
}

async fn read_all(source: &Source, table: &'static CopyTable) -> Result<BTreeSet<CopyRow>, StoreError> {
    let (mut all, mut last) = (BTreeSet::new(), None);
    loop {
        let rows = read(source, table, last.take()).await?;
        let Some(end) = rows.last() else { return Ok(all) };
        last = Some(end[..table.key].to_vec());
        all.extend(rows);
    }
}

async fn count(source: &Source, table: &'static CopyTable) -> Result<u64, StoreError> {
    blocking(source, move |source| source.count(table)).await
}

async fn read(source: &Source, table: &'static CopyTable, after: Option<CopyRow>) -> Result<Vec<CopyRow>, StoreError> {
    blocking(source, move |source| source.rows(table, after.as_deref(), PART)).await
}

async fn blocking<T: Send + 'static>(
    source: &Source,
    work: impl FnOnce(&mut dyn CopySource) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let source = source.clone();
    let work = move || work(&mut **source.lock().expect("a source is never held over a panic"));
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Err(StoreError::Closed),
    })
}
