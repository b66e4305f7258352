//! Where a journal begins whose oldest records are gone: the engines as they were then.

use std::collections::BTreeMap;

use aizuchi_core::engine::Nobody;
use aizuchi_core::{Engine, Policies, Time};
use rusqlite::{Connection, Transaction, params};

use super::read::Records;
use super::recover::{Kept, kept_in};
use crate::stores::StoreError;

/// The engines before the first record that is kept; none where nothing was ever let go of.
#[derive(Default)]
pub struct Base(BTreeMap<usize, Kept>);

impl Base {
    pub fn read(connection: &Connection, policies: &Policies) -> Result<Base, StoreError> {
        // A store that no program of today has opened yet.
        if !connection.prepare("SELECT 1 FROM sqlite_master WHERE name = 'base'")?.exists([])? {
            return Ok(Base::default());
        }
        kept_in(connection, "base", policies).map(Base)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it knows already what came of this record.
    pub fn holds(&self, shard: u32, seq: i64) -> bool {
        self.0.get(&(shard as usize)).is_some_and(|kept| seq as u64 <= kept.seq)
    }

    pub fn engine(&mut self, shard: u32, policies: &Policies) -> &mut Engine {
        &mut self.0.entry(shard as usize).or_insert_with(|| Kept::fresh(policies)).engine
    }

    /// Lives through what is about to be let go of: what is older than `before` and in a snapshot. How many records.
    pub(super) fn advance(
        &mut self,
        connection: &Connection,
        policies: &Policies,
        before: Time,
    ) -> rusqlite::Result<u64> {
        let snapshots = "SELECT shard, seq FROM snapshot";
        let snapshots: BTreeMap<u32, i64> = connection
            .prepare(snapshots)?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<_, _>>()?;
        let end = "SELECT coalesce(max(seq), 0) FROM journal WHERE at < ?1";
        let end: i64 = connection.query_row(end, [before.0 as i64], |row| row.get(0))?;
        let known = self.0.values().map(|kept| kept.seq).min().unwrap_or(0);
        let (mut lived, mut effects) = (0, Vec::new());
        // Each engine's own records are in the order of their times, so that these are its first.
        for record in Records::after(connection, known as i64)? {
            let Ok(record) = record? else { continue };
            if record.seq > end {
                break;
            }
            let in_snapshot = snapshots.get(&record.shard).is_some_and(|seq| record.seq <= *seq);
            if record.at >= before || !in_snapshot || self.holds(record.shard, record.seq) {
                continue;
            }
            let kept = self.0.entry(record.shard as usize).or_insert_with(|| Kept::fresh(policies));
            kept.engine.handle(record.at, record.input, &mut effects);
            kept.seq = record.seq as u64;
            effects.clear();
            lived += 1;
        }
        Ok(lived)
    }

    pub(super) fn forget(&mut self, nobody: Nobody<'_>) {
        for kept in self.0.values_mut() {
            kept.engine.forget(Time(0), nobody, &mut Vec::new());
        }
    }

    pub(super) fn rows(&self) -> Vec<(i64, i64, String, String)> {
        let row = |(shard, kept): (&usize, &Kept)| {
            let policies = serde_json::to_string(&kept.engine.policies().stated()).expect("settings are plain data");
            let body = serde_json::to_string(&kept.engine.snapshot()).expect("a snapshot is plain data");
            (*shard as i64, kept.seq as i64, policies, body)
        };
        self.0.iter().map(row).collect()
    }
}

pub(super) fn keep(transaction: &Transaction<'_>, rows: &[(i64, i64, String, String)]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO base VALUES (?1, ?2, ?3, ?4)")?;
    rows.iter()
        .try_for_each(|(shard, seq, policies, body)| insert.execute(params![shard, seq, policies, body]).map(drop))
}
