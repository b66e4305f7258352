//! The journal in its table.

use std::sync::Arc;

use aizuchi_core::{Input, Time};
use rusqlite::{Connection, OptionalExtension as _, ToSql, Transaction, params};

use super::database::within_savepoint;
use super::gaps::give_back;
use super::record::{self, COLUMNS, EncodedRecord, last_seq};
use super::{Database, decisions, snapshots, store_talk};
use crate::journal::record::encode;
use crate::ports::{
    Appended, BoxFuture, JournalEntry, JournalStore, NewBase, OldRecords, Position, Pruned, Range, Record, Rewrite,
    StateKind, TalkWrite, Unreadable,
};
use crate::stores::StoreError;

/// How many rows are read at once. No read lasts longer than a page, so that the writer can empty the log.
const PAGE: i64 = 512;
/// How many rows are deleted at a time, so that other writes do not wait long.
const PRUNED_TOGETHER: usize = 5_000;
/// The maximum number of pages returned to the file system with them.
const PAGES_GIVEN_BACK: usize = 1_000;

impl JournalStore for Database {
    fn append<'a>(&'a self, shard: usize, entries: &'a [JournalEntry]) -> BoxFuture<'a, Result<Appended, StoreError>> {
        let to_row = |entry: &JournalEntry| match entry {
            JournalEntry::Input(at, input) => EncodedEntry::Record(EncodedRecord::new(*at, input)),
            JournalEntry::Talk(at, write) => EncodedEntry::Talk(*at, write.clone()),
        };
        let rows: Vec<EncodedEntry> = entries.iter().map(to_row).collect();
        let write = move |transaction: &Transaction<'_>| {
            let mut stored = Vec::new();
            for row in &rows {
                match row {
                    EncodedEntry::Record(record) => record.insert(transaction, shard)?,
                    EncodedEntry::Talk(at, write) => stored.push(store_one(transaction, shard, *at, write)?),
                }
            }
            Ok(Appended { seq: last_seq(transaction)? as u64, stored })
        };
        Box::pin(self.write(write))
    }

    fn page<'a>(&'a self, range: &'a Range) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>> {
        let range = range.clone();
        Box::pin(self.read(move |connection| page(connection, &range)))
    }

    fn locate(&self, position: Position) -> BoxFuture<'_, Result<Option<i64>, StoreError>> {
        Box::pin(self.read(move |connection| locate(connection, &position)))
    }

    fn rewrite(&self, rewrite: Arc<Rewrite>, base: Option<NewBase>) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.write(move |transaction| change(transaction, &rewrite, base.as_ref())))
    }

    fn prune(&self, seq: i64, at: Time) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        Box::pin(self.write_behind(move |transaction| prune(transaction, seq, at)))
    }
}

/// An entry, encoded before the commit if possible.
enum EncodedEntry {
    Record(EncodedRecord),
    Talk(Time, TalkWrite),
}

/// Stores a change and records its input for the engine. `Err` if it cannot be recorded, or the whole commit has failed.
fn store_one(
    transaction: &Transaction<'_>,
    shard: usize,
    at: Time,
    write: &TalkWrite,
) -> rusqlite::Result<Result<Option<Input>, StoreError>> {
    match within_savepoint(transaction, "stored", |transaction| store_talk(transaction, write)) {
        Ok(input) => {
            input.iter().try_for_each(|input| EncodedRecord::new(at, input).insert(transaction, shard))?;
            Ok(Ok(input))
        }
        // SQLite has rolled back the whole transaction.
        Err(error) if transaction.is_autocommit() => Err(error),
        Err(error) => Ok(Err(error.into())),
    }
}

fn page(connection: &Connection, range: &Range) -> rusqlite::Result<Vec<Result<Record, Unreadable>>> {
    let mut query = format!("SELECT {COLUMNS} FROM journal WHERE seq > ?1 AND seq <= ?2");
    let room = range.room.as_ref().map(|room| room.as_str());
    let mut values: Vec<&dyn ToSql> = vec![&range.after, &range.up_to, &PAGE];
    if let Some(room) = &room {
        query += " AND room = ?4";
        values.push(room);
    }
    if !range.kinds.is_empty() {
        let kinds: Vec<String> = range.kinds.iter().map(|kind| (*kind as i64).to_string()).collect();
        query += &format!(" AND kind IN ({})", kinds.join(", "));
    }
    query += " ORDER BY seq LIMIT ?3";
    connection.prepare_cached(&query)?.query_map(&*values, record::read)?.collect()
}

fn locate(connection: &Connection, position: &Position) -> rusqlite::Result<Option<i64>> {
    let before_last = |count: &u32, condition: &str, values: &[&dyn ToSql]| {
        let query = format!("SELECT seq FROM journal {condition} ORDER BY seq DESC LIMIT 1 OFFSET {count}");
        connection.prepare(&query)?.query_row(values, |row| row.get(0)).optional()
    };
    let one =
        |query: &str, values: &[&dyn ToSql]| connection.prepare_cached(query)?.query_row(values, |row| row.get(0));
    match position {
        Position::First => one("SELECT min(seq) FROM journal", &[]),
        Position::Last => one("SELECT max(seq) FROM journal", &[]),
        Position::BeforeLast(None, count) => before_last(count, "", &[]),
        Position::BeforeLast(Some(room), count) => before_last(count, "WHERE room = ?1", &[&room.as_str()]),
        Position::FirstNotOld(OldRecords { before, after }) => {
            let query = "SELECT min(seq) FROM journal WHERE at >= ?1 AND at <= ?2";
            one(query, &[&(before.0 as i64), &(after.0 as i64)])
        }
        Position::InEverySnapshot => one("SELECT min(seq) FROM snapshot", &[]),
    }
}

fn change(transaction: &Transaction<'_>, rewrite: &Rewrite, base: Option<&NewBase>) -> rusqlite::Result<bool> {
    if let Some(base) = base
        && snapshots::mark(transaction)? != base.instead_of
    {
        return Ok(false);
    }
    transaction.execute("UPDATE journal_rewritten SET count = count + 1", [])?;
    for (seq, input) in &rewrite.records {
        record::replace(transaction, *seq, input)?;
    }
    rewrite.decisions.iter().try_for_each(|replacement| decisions::replace(transaction, replacement))?;
    // Written first, since it determines what no start needs.
    rewrite.snapshot.iter().try_for_each(|state| snapshots::insert(transaction, StateKind::Snapshot, state))?;
    rewrite.rooms.iter().try_for_each(|room| forget_room(transaction, room.as_str()))?;
    if let Some(base) = base {
        transaction.execute("DELETE FROM base", [])?;
        base.states.iter().try_for_each(|state| snapshots::insert(transaction, StateKind::Base, state))?;
    }
    Ok(true)
}

fn forget_room(transaction: &Transaction<'_>, room: &str) -> rusqlite::Result<()> {
    let (body, sum) = encode(&Input::Forgotten);
    let theirs = "room = ?1 AND seq <= coalesce(
        (SELECT seq FROM snapshot WHERE snapshot.shard = journal.shard), (SELECT min(seq) FROM snapshot), 0)";
    let unlist = format!("DELETE FROM journal_mention WHERE seq IN (SELECT seq FROM journal WHERE {theirs})");
    transaction.prepare_cached(&unlist)?.execute([room])?;
    let scrub = format!(
        "UPDATE journal SET body = ?2, sum = ?3, kind = NULL, person = NULL, name = NULL, message = NULL WHERE {theirs}"
    );
    transaction.prepare_cached(&scrub)?.execute(params![room, body, sum])?;
    transaction.execute("DELETE FROM trace WHERE room = ?1", [room]).map(drop)
}

fn prune(transaction: &Transaction<'_>, seq: i64, before: Time) -> rusqlite::Result<Pruned> {
    let limit = PRUNED_TOGETHER as i64;
    transaction.execute(
        "DELETE FROM trace WHERE (room, message) IN (SELECT room, message FROM trace WHERE at < ?1 LIMIT ?2)",
        params![before.0 as i64, limit],
    )?;
    let gone = transaction.execute(
        "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal WHERE seq <= ?1 ORDER BY seq LIMIT ?2)",
        params![seq, limit],
    )?;
    transaction.execute("DELETE FROM journal_mention WHERE seq < (SELECT min(seq) FROM journal)", [])?;
    give_back(transaction, PAGES_GIVEN_BACK)?;
    Ok(Pruned { records: gone as u64, more: gone == PRUNED_TOGETHER })
}

#[cfg(test)]
mod tests {
    use aizuchi_test_servers::folder::Scratch;

    use super::*;
    use crate::journal::record::sum;
    use crate::journal::{DamagedRecord, Records};
    use crate::stores::scratch;

    async fn journal(name: &str, bodies: Vec<(String, i64)>) -> (Scratch, Database) {
        let (folder, database) = scratch(name);
        let write = move |transaction: &Transaction<'_>| {
            for (body, sum) in bodies {
                let insert = "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, 7, NULL, ?1, ?2)";
                transaction.prepare_cached(insert)?.execute(params![body, sum])?;
            }
            Ok(())
        };
        database.write(write).await.unwrap();
        (folder, database)
    }

    #[tokio::test]
    async fn a_torn_end_is_dropped_and_damage_within_is_told_and_skipped() {
        let (tick, fits) = encode(&Input::Tick);
        let (resumed, also_fits) = encode(&Input::Resumed);
        let bodies = vec![
            (tick, fits),
            ("\"Tock\"".into(), fits),
            ("\"Tock\"".into(), sum("\"Tock\"")),
            (resumed.clone(), also_fits),
            (resumed[..4].into(), also_fits),
        ];
        let (_folder, journal) = journal("torn", bodies).await;
        let read = Records::all(&journal).await.unwrap().collect().await.unwrap();
        let tell = |read: Result<Record, DamagedRecord>| match read {
            Ok(record) => format!("{} {:?}", record.seq, record.input),
            Err(damaged) => damaged.to_string(),
        };
        let told: Vec<String> = read.into_iter().map(tell).collect();
        assert_eq!((told[0].as_str(), told[3].as_str()), ("1 Tick", "4 Resumed"));
        assert_eq!(told[1], "record 2 of the journal is damaged (wrong checksum); skipped");
        assert!(told[2].starts_with("record 3 of the journal is damaged (unknown variant"), "{}", told[2]);
        assert_eq!(told[4], "the last record of the journal, 5, is torn (wrong checksum); dropped");
    }

    #[tokio::test]
    async fn many_pages_are_read_in_order_and_the_last_few_alone() {
        let (_folder, journal) = journal("pages", vec![encode(&Input::Tick); 1300]).await;
        let seqs = async |records: Result<Records<'_>, StoreError>| {
            let records = records.unwrap().whole().await.unwrap();
            records.into_iter().map(|record| record.seq).collect::<Vec<_>>()
        };
        assert_eq!(seqs(Records::all(&journal).await).await, (1..=1300).collect::<Vec<_>>());
        assert_eq!(seqs(Records::last(&journal, 2).await).await, [1299, 1300]);
        assert_eq!(seqs(Records::last(&journal, 5000).await).await.len(), 1300);
        assert_eq!(seqs(Records::after(&journal, 1299).await).await, [1300]);
    }
}
