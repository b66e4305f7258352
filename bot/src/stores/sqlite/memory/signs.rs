//! The signs of vectors, many facts to a row: one bit for each component, set if it is positive. Vectors of similar
//! direction share most of them, and scanning all signs of a server takes few reads.

use aizuchi_core::types::stable_hash;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::memory::table::StoreResult;

/// Facts share a row if their numbers differ in the last eight bits only.
const BLOCK_BITS: u32 = 8;
const ID_BYTES: usize = size_of::<i64>();
/// How many facts are held while the signs are scanned.
const HELD_MAX: usize = 4096;

/// Adds a fact in these places.
pub fn add(connection: &Connection, places: &[i64], fact: i64, model: &str, vector: &[f32]) -> StoreResult<()> {
    let entry = [fact.to_be_bytes().to_vec(), signs(vector)].concat();
    places.iter().try_for_each(|place| change(connection, *place, fact, model, entry.len(), &entry))
}

/// Removes a fact whose vector had this many components.
pub fn remove(connection: &Connection, places: &[i64], fact: i64, model: &str, numbers: usize) -> StoreResult<()> {
    let width = ID_BYTES + numbers.div_ceil(8);
    places.iter().try_for_each(|place| change(connection, *place, fact, model, width, &[]))
}

fn change(connection: &Connection, place: i64, fact: i64, model: &str, width: usize, entry: &[u8]) -> StoreResult<()> {
    let key = params![place, model_number(model), fact >> BLOCK_BITS];
    let read = "SELECT entries FROM memory_signs WHERE place = ?1 AND model = ?2 AND block = ?3";
    let before = connection.prepare_cached(read)?.query_row(key, |row| row.get::<_, Vec<u8>>(0)).optional()?;
    let mut entries = before.unwrap_or_default();
    // Vectors of another length are from another model that has the same name.
    if !entries.len().is_multiple_of(width) {
        entries.clear();
    }
    let others = entries.chunks(width).filter(|known| known[..ID_BYTES] != fact.to_be_bytes());
    let entries: Vec<u8> = others.chain([entry]).flatten().copied().collect();
    if entries.is_empty() {
        let delete = "DELETE FROM memory_signs WHERE place = ?1 AND model = ?2 AND block = ?3";
        connection.prepare_cached(delete)?.execute(key)?;
        return Ok(());
    }
    let write = "INSERT INTO memory_signs (place, model, block, entries) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (place, model, block) DO UPDATE SET entries = excluded.entries";
    let values = params![place, model_number(model), fact >> BLOCK_BITS, entries];
    connection.prepare_cached(write)?.execute(values)?;
    Ok(())
}

/// The facts in these places whose signs differ least from those of a vector.
pub fn nearest(
    connection: &Connection,
    places: &[i64],
    model: &str,
    vector: &[f32],
    count: usize,
) -> StoreResult<Vec<i64>> {
    let asked = signs(vector);
    let width = ID_BYTES + asked.len();
    let mut found: Vec<(u32, i64)> = Vec::new();
    let mut statement =
        connection.prepare_cached("SELECT entries FROM memory_signs WHERE place = ?1 AND model = ?2")?;
    for place in places {
        let mut rows = statement.query(params![place, model_number(model)])?;
        while let Some(row) = rows.next()? {
            let entries = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
            if entries.len().is_multiple_of(width) {
                found.extend(entries.chunks_exact(width).map(|entry| {
                    let (id, signs) = entry.split_at(ID_BYTES);
                    (difference(signs, &asked), i64::from_be_bytes(id.try_into().expect("eight bytes")))
                }));
            }
            // What is far off now stays so: no more is held than needed. A fact may be in two places.
            if found.len() > HELD_MAX {
                keep_nearest(&mut found, 2 * count);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().take(count).map(|(_, fact)| fact).collect())
}

fn keep_nearest(found: &mut Vec<(u32, i64)>, count: usize) {
    if found.len() > count {
        found.select_nth_unstable(count);
        found.truncate(count);
    }
}

/// The number of bits in which two differ.
fn difference(a: &[u8], b: &[u8]) -> u32 {
    let (a, rest_of_a) = a.as_chunks::<8>();
    let (b, rest_of_b) = b.as_chunks::<8>();
    let long = a.iter().zip(b).map(|(a, b)| (u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b)).count_ones());
    long.sum::<u32>() + rest_of_a.iter().zip(rest_of_b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
}

fn signs(vector: &[f32]) -> Vec<u8> {
    let byte = |eight: &[f32]| eight.iter().fold(0, |byte, number| byte << 1 | u8::from(*number > 0.0));
    vector.chunks(8).map(byte).collect()
}

fn model_number(model: &str) -> i64 {
    stable_hash(1, model).cast_signed()
}
