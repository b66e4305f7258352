//! A record of the journal as a row of its table, with its index columns.

use aizuchi_core::{Input, Time};
use rusqlite::{Connection, Row, Transaction, params};

use crate::journal::record::{decode, encode};
use crate::ports::{Keys, Record, Unreadable};

/// A record to be written, encoded before the commit.
pub struct EncodedRecord {
    at: Time,
    room: Option<Box<str>>,
    body: String,
    sum: i64,
    index: IndexRow,
}

/// What is copied out of a record for the indexes.
struct IndexRow {
    kind: Option<i64>,
    person: Option<Box<str>>,
    name: Option<Box<str>>,
    message: Option<Box<str>>,
    mentions: Vec<Box<str>>,
}

impl IndexRow {
    fn new(input: &Input) -> IndexRow {
        let keys = Keys::of(input);
        IndexRow {
            kind: keys.kind.map(|kind| kind as i64),
            person: keys.person.map(|person| person.as_str().into()),
            name: keys.name.map(Into::into),
            message: keys.message.map(|message| message.as_str().into()),
            mentions: keys.mentions.iter().map(|person| person.as_str().into()).collect(),
        }
    }

    fn insert_mentions(&self, transaction: &Transaction<'_>, seq: i64) -> rusqlite::Result<()> {
        for person in &self.mentions {
            let insert = "INSERT OR IGNORE INTO journal_mention (person, seq) VALUES (?1, ?2)";
            transaction.prepare_cached(insert)?.execute(params![person, seq])?;
        }
        Ok(())
    }
}

impl EncodedRecord {
    pub fn new(at: Time, input: &Input) -> EncodedRecord {
        let (body, sum) = encode(input);
        let room = input.room().map(|room| room.as_str().into());
        EncodedRecord { at, room, body, sum, index: IndexRow::new(input) }
    }

    pub fn insert(&self, transaction: &Transaction<'_>, shard: usize) -> rusqlite::Result<()> {
        let EncodedRecord { at, room, body, sum, index } = self;
        let insert = "INSERT INTO journal (shard, at, room, body, sum, kind, person, name, message)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let IndexRow { kind, person, name, message, .. } = index;
        let row = params![shard as i64, at.0 as i64, room, body, sum, kind, person, name, message];
        transaction.prepare_cached(insert)?.execute(row)?;
        index.insert_mentions(transaction, transaction.last_insert_rowid())
    }
}

/// Replaces the content of a record. Its number, its time and its room stay.
pub fn replace(transaction: &Transaction<'_>, seq: i64, input: &Input) -> rusqlite::Result<()> {
    let ((body, sum), index) = (encode(input), IndexRow::new(input));
    let update =
        "UPDATE journal SET body = ?2, sum = ?3, kind = ?4, person = ?5, name = ?6, message = ?7 WHERE seq = ?1";
    let row = params![seq, body, sum, index.kind, index.person, index.name, index.message];
    transaction.prepare_cached(update)?.execute(row)?;
    transaction.prepare_cached("DELETE FROM journal_mention WHERE seq = ?1")?.execute([seq])?;
    index.insert_mentions(transaction, seq)
}

/// The columns that [`read`] needs.
pub const COLUMNS: &str = "seq, shard, at, body, sum";

pub fn read(row: &Row<'_>) -> rusqlite::Result<Result<Record, Unreadable>> {
    let (seq, shard, at, sum): (i64, u32, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(4)?);
    let body = row.get_ref(3)?.as_bytes_or_null()?.unwrap_or_default();
    Ok(match decode(body, sum, at) {
        Ok((at, input)) => Ok(Record { seq, shard, at, input }),
        Err(what) => Err(Unreadable { seq, what }),
    })
}

/// The number of the last record.
pub fn last_seq(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT coalesce(max(seq), 0) FROM journal")?.query_row([], |row| row.get(0))
}
