//! Records of the journal as rows.

use aizuchi_core::{Input, Time};
use tokio_postgres::Row;

use super::connection::{OwnedValue, PgConnection, Value};
use super::error::PgResult;
use super::text::to_stored;
use crate::journal::record::{decode, encode};
use crate::ports::{Keys, Record, Unreadable};

/// A record to be written, encoded before the commit.
#[derive(Clone)]
pub struct PgRecord {
    at: i64,
    room: Option<String>,
    body: String,
    sum: i64,
    index: PgIndexRow,
}

/// What is copied out of a record for the indexes.
#[derive(Clone)]
struct PgIndexRow {
    kind: Option<i16>,
    person: Option<String>,
    name: Option<String>,
    message: Option<String>,
    mentions: Vec<String>,
}

impl PgIndexRow {
    fn new(input: &Input) -> PgIndexRow {
        let keys = Keys::of(input);
        let stored = |text: &str| to_stored(text).into_owned();
        PgIndexRow {
            kind: keys.kind.map(|kind| kind as i16),
            person: keys.person.map(|person| stored(person.as_str())),
            name: keys.name.map(stored),
            message: keys.message.map(|message| stored(message.as_str())),
            mentions: keys.mentions.iter().map(|person| stored(person.as_str())).collect(),
        }
    }
}

impl PgRecord {
    pub fn new(at: Time, input: &Input) -> PgRecord {
        let (body, sum) = encode(input);
        let room = input.room().map(|room| to_stored(room.as_str()).into_owned());
        PgRecord { at: at.0 as i64, room, body, sum, index: PgIndexRow::new(input) }
    }

    /// The same of an input that is about no room, as one room heard it.
    #[cfg(feature = "cluster")]
    pub fn of_room(self, room: &aizuchi_core::types::RoomId) -> PgRecord {
        PgRecord { room: Some(to_stored(room.as_str()).into_owned()), ..self }
    }

    /// As it is stored.
    #[cfg(feature = "cluster")]
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// Adds records behind the last one. Returns the number of the last that was there before.
pub const INSERT: &str = "WITH last AS (SELECT coalesce(max(seq), 0) AS seq FROM journal),
    mentioned AS (
        INSERT INTO journal_mention (person, seq)
        SELECT person, last.seq + number FROM last, unnest($10::text[], $11::bigint[]) AS m (person, number)
    ),
    added AS (
        INSERT INTO journal (seq, shard, at, room, body, sum, kind, person, name, message)
        SELECT last.seq + number, $1, at, room, body, sum, kind, person, name, message
        FROM last, unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::smallint[], $7::text[], $8::text[],
            $9::text[]) WITH ORDINALITY AS r (at, room, body, sum, kind, person, name, message, number)
    )
    SELECT seq FROM last";

/// The values of [`INSERT`].
pub fn values(shard: usize, records: &[&PgRecord]) -> Vec<OwnedValue> {
    let (mut linked, mut mentions): (Vec<i64>, Vec<String>) = (Vec::new(), Vec::new());
    for (number, record) in records.iter().enumerate() {
        for person in &record.index.mentions {
            linked.push(number as i64 + 1);
            mentions.push(person.clone());
        }
    }
    let texts = |text: fn(&PgRecord) -> &Option<String>| -> Vec<Option<String>> {
        records.iter().map(|record| text(record).clone()).collect()
    };
    vec![
        Box::new(shard as i32),
        Box::new(records.iter().map(|record| record.at).collect::<Vec<_>>()),
        Box::new(texts(|record| &record.room)),
        Box::new(records.iter().map(|record| record.body.clone()).collect::<Vec<_>>()),
        Box::new(records.iter().map(|record| record.sum).collect::<Vec<_>>()),
        Box::new(records.iter().map(|record| record.index.kind).collect::<Vec<_>>()),
        Box::new(texts(|record| &record.index.person)),
        Box::new(texts(|record| &record.index.name)),
        Box::new(texts(|record| &record.index.message)),
        Box::new(mentions),
        Box::new(linked),
    ]
}

/// Adds records behind the last one, in one round trip. Returns the number of the last record there is.
pub fn insert(connection: &PgConnection, shard: usize, records: &[&PgRecord]) -> PgResult<i64> {
    if records.is_empty() {
        return last_seq(connection);
    }
    let values = values(shard, records);
    let values: Vec<Value<'_>> = values.iter().map(|value| &**value as Value<'_>).collect();
    Ok(connection.one(INSERT, &values)?.get::<_, i64>(0) + records.len() as i64)
}

/// Something else takes the place of a record. Its number, its time and its room stay.
pub fn replace(connection: &PgConnection, seq: i64, input: &Input) -> PgResult<()> {
    let ((body, sum), index) = (encode(input), PgIndexRow::new(input));
    let update =
        "UPDATE journal SET body = $2, sum = $3, kind = $4, person = $5, name = $6, message = $7 WHERE seq = $1";
    let PgIndexRow { kind, person, name, message, mentions } = &index;
    let add = "INSERT INTO journal_mention (person, seq) SELECT person, $1 FROM unnest($2::text[]) AS m (person)";
    connection.pipeline(&[
        (update, &[&seq, &body, &sum, kind, person, name, message]),
        ("DELETE FROM journal_mention WHERE seq = $1", &[&seq]),
        (add, &[&seq, mentions]),
    ])?;
    Ok(())
}

/// What [`read`] needs of a row.
pub const COLUMNS: &str = "seq, shard, at, body, sum";

pub fn read(row: &Row) -> Result<Record, Unreadable> {
    let (seq, shard, at): (i64, i32, i64) = (row.get(0), row.get(1), row.get(2));
    let body: &str = row.get(3);
    match decode(body.as_bytes(), row.get(4), at) {
        Ok((at, input)) => Ok(Record { seq, shard: shard.cast_unsigned(), at, input }),
        Err(what) => Err(Unreadable { seq, what }),
    }
}

/// The last record there is.
pub fn last_seq(connection: &PgConnection) -> PgResult<i64> {
    Ok(connection.one("SELECT coalesce(max(seq), 0) FROM journal", &[])?.get(0))
}
