//! The journal in its table.

use std::sync::Arc;

use aizuchi_core::{Input, Time};
use tokio_postgres::Row;

use super::connection::{OwnedValue, PgConnection, Value};
use super::error::{PgError, PgResult};
use super::record::{self, COLUMNS, PgRecord};
use super::text::to_stored;
use super::web::store_talk;
use super::work::StatementWrite;
use super::{PostgresDatabase, decisions, snapshots};
use crate::journal::record::encode;
use crate::ports::{
    Appended, BoxFuture, JournalEntry, JournalStore, NewBase, OldRecords, Position, Pruned, Range, Record, Rewrite,
    StateKind, TalkWrite, Unreadable,
};
use crate::stores::StoreError;

/// Rows read at once.
const PAGE: i64 = 512;
/// Rows deleted at a time, so that nobody waits long behind it.
const PRUNED_TOGETHER: i64 = 5_000;

impl JournalStore for PostgresDatabase {
    fn append<'a>(&'a self, shard: usize, entries: &'a [JournalEntry]) -> BoxFuture<'a, Result<Appended, StoreError>> {
        let to_row = |entry: &JournalEntry| match entry {
            JournalEntry::Input(at, input) => PgEntry::Record(PgRecord::new(*at, input)),
            JournalEntry::Talk(at, write) => PgEntry::Talk(*at, write.clone()),
        };
        let rows: Vec<PgEntry> = entries.iter().map(to_row).collect();
        if let Some(records) = only_records(&rows) {
            return Box::pin(self.write_statement(append_records(shard, records)));
        }
        Box::pin(self.write(move |connection| append(connection, shard, &rows)))
    }

    fn page<'a>(&'a self, range: &'a Range) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>> {
        let range = range.clone();
        Box::pin(self.read(move |connection| page(connection, &range)))
    }

    fn locate(&self, position: Position) -> BoxFuture<'_, Result<Option<i64>, StoreError>> {
        let is_any = self.is_shared() && position == Position::InEverySnapshot;
        let position = if is_any { Position::Last } else { position };
        Box::pin(self.read(move |connection| locate(connection, &position)))
    }

    fn rewrite(&self, rewrite: Arc<Rewrite>, base: Option<NewBase>) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.write(move |connection| change(connection, &rewrite, base.as_ref())))
    }

    fn prune(&self, seq: i64, at: Time) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        #[cfg(feature = "cluster")]
        if self.is_shared() {
            return Box::pin(self.write_behind(move |connection| {
                super::cluster_set_aside::prune(connection, at)?;
                prune(connection, seq, at)
            }));
        }
        Box::pin(self.write_behind(move |connection| prune(connection, seq, at)))
    }
}

/// An entry, encoded where that is possible before the commit.
enum PgEntry {
    Record(PgRecord),
    Talk(Time, TalkWrite),
}

/// The records, if there is nothing else.
fn only_records(entries: &[PgEntry]) -> Option<Vec<PgRecord>> {
    let record = |entry: &PgEntry| match entry {
        PgEntry::Record(record) => Some(record.clone()),
        PgEntry::Talk(..) => None,
    };
    entries.iter().map(record).collect::<Option<Vec<_>>>().filter(|records| !records.is_empty())
}

fn append_records(
    shard: usize,
    records: Vec<PgRecord>,
) -> StatementWrite<impl Fn() -> Vec<OwnedValue>, impl Fn(&[Row]) -> Appended> {
    let count = records.len() as i64;
    StatementWrite {
        statement: record::INSERT,
        values: move || record::values(shard, &records.iter().collect::<Vec<_>>()),
        read: move |rows: &[Row]| {
            let before: i64 = rows.first().map_or(0, |row| row.get(0));
            Appended { seq: (before + count).cast_unsigned(), stored: Vec::new() }
        },
    }
}

/// Everything in its order. What the engine is to hear of talk is known only once the talk is stored; so talk is stored first, and
/// all records go in together.
fn append(connection: &PgConnection, shard: usize, entries: &[PgEntry]) -> PgResult<Appended> {
    let (mut stored, mut made) = (Vec::new(), Vec::new());
    for entry in entries {
        if let PgEntry::Talk(at, write) = entry {
            let (done, record) = match connection.savepoint("stored", || store_talk(connection, write)) {
                Ok(input) => {
                    let record = input.as_ref().map(|input| PgRecord::new(*at, input));
                    (Ok(input), record)
                }
                Err(PgError::Final(error)) => (Err(error), None),
                Err(error) => return Err(error),
            };
            stored.push(done);
            made.push(record);
        }
    }
    let mut made = made.iter();
    let records = entries.iter().filter_map(|entry| match entry {
        PgEntry::Record(record) => Some(record),
        PgEntry::Talk(..) => made.next().and_then(Option::as_ref),
    });
    let records: Vec<&PgRecord> = records.collect();
    let seq = record::insert(connection, shard, &records)?;
    Ok(Appended { seq: seq as u64, stored })
}

fn page(connection: &PgConnection, range: &Range) -> PgResult<Vec<Result<Record, Unreadable>>> {
    let mut query = format!("SELECT {COLUMNS} FROM journal WHERE seq > $1 AND seq <= $2");
    let room = range.room.as_ref().map(|room| to_stored(room.as_str()));
    let mut values: Vec<Value<'_>> = vec![&range.after, &range.up_to, &PAGE];
    if let Some(room) = &room {
        query += " AND room = $4";
        values.push(room);
    }
    if !range.kinds.is_empty() {
        let kinds: Vec<String> = range.kinds.iter().map(|kind| (*kind as i16).to_string()).collect();
        query += &format!(" AND kind IN ({})", kinds.join(", "));
    }
    query += " ORDER BY seq LIMIT $3";
    Ok(connection.query(&query, &values)?.iter().map(record::read).collect())
}

fn locate(connection: &PgConnection, position: &Position) -> PgResult<Option<i64>> {
    let one = |query: &str, values: &[Value<'_>]| {
        Ok(connection.first(query, values)?.and_then(|row| row.get::<_, Option<i64>>(0)))
    };
    match position {
        Position::First => one("SELECT min(seq) FROM journal", &[]),
        Position::Last => one("SELECT max(seq) FROM journal", &[]),
        Position::BeforeLast(None, count) => {
            one("SELECT seq FROM journal ORDER BY seq DESC OFFSET $1 LIMIT 1", &[&i64::from(*count)])
        }
        Position::BeforeLast(Some(room), count) => {
            let query = "SELECT seq FROM journal WHERE room = $1 ORDER BY seq DESC OFFSET $2 LIMIT 1";
            one(query, &[&to_stored(room.as_str()), &i64::from(*count)])
        }
        Position::FirstNotOld(OldRecords { before, after }) => {
            let query = "SELECT min(seq) FROM journal WHERE at >= $1 AND at <= $2";
            one(query, &[&(before.0 as i64), &(after.0 as i64)])
        }
        Position::InEverySnapshot => one("SELECT min(seq) FROM snapshot", &[]),
    }
}

pub(super) fn change(connection: &PgConnection, rewrite: &Rewrite, base: Option<&NewBase>) -> PgResult<bool> {
    if let Some(base) = base
        && snapshots::mark(connection)? != base.instead_of
    {
        return Ok(false);
    }
    connection.execute("UPDATE journal_rewritten SET count = count + 1", &[])?;
    for (seq, input) in &rewrite.records {
        record::replace(connection, *seq, input)?;
    }
    rewrite.decisions.iter().try_for_each(|replacement| decisions::replace(connection, replacement))?;
    // First: it tells what no start needs.
    rewrite.snapshot.iter().try_for_each(|state| snapshots::insert(connection, StateKind::Snapshot, state))?;
    rewrite.rooms.iter().try_for_each(|room| forget_room(connection, room.as_str()))?;
    if let Some(base) = base {
        connection.execute("DELETE FROM base", &[])?;
        base.states.iter().try_for_each(|state| snapshots::insert(connection, StateKind::Base, state))?;
    }
    Ok(true)
}

fn forget_room(connection: &PgConnection, room: &str) -> PgResult<()> {
    let in_snapshots = "room = $1 AND seq <= coalesce(
        (SELECT seq FROM snapshot WHERE snapshot.shard = journal.shard), (SELECT min(seq) FROM snapshot), 0)";
    forget_where(connection, room, in_snapshots)
}

/// `theirs` are the records of the room, which is `$1`, that may go.
pub(super) fn forget_where(connection: &PgConnection, room: &str, theirs: &str) -> PgResult<()> {
    let ((body, sum), room) = (encode(&Input::Forgotten), to_stored(room));
    let unlist = format!("DELETE FROM journal_mention WHERE seq IN (SELECT seq FROM journal WHERE {theirs})");
    connection.execute(&unlist, &[&room])?;
    let scrub = format!(
        "UPDATE journal SET body = $2, sum = $3, kind = NULL, person = NULL, name = NULL, message = NULL WHERE {theirs}"
    );
    connection.execute(&scrub, &[&room, &body, &sum])?;
    connection.execute("DELETE FROM trace WHERE room = $1", &[&room]).map(drop)
}

fn prune(connection: &PgConnection, seq: i64, before: Time) -> PgResult<Pruned> {
    connection.execute(
        "DELETE FROM trace WHERE ctid IN (SELECT ctid FROM trace WHERE at < $1 LIMIT $2)",
        &[&(before.0 as i64), &PRUNED_TOGETHER],
    )?;
    let gone = connection.execute(
        "DELETE FROM journal WHERE seq IN (SELECT seq FROM journal WHERE seq <= $1 ORDER BY seq LIMIT $2)",
        &[&seq, &PRUNED_TOGETHER],
    )?;
    connection.execute("DELETE FROM journal_mention WHERE seq < (SELECT min(seq) FROM journal)", &[])?;
    Ok(Pruned { records: gone, more: gone == PRUNED_TOGETHER as u64 })
}
