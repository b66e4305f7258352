//! Reads the journal in its order, a page at a time, beside a program that may be writing it.

use std::collections::VecDeque;
use std::fmt;

use aizuchi_core::{Input, Time};
use rusqlite::{Connection, params};

use super::record::sum;

/// Something that happened, and when it was handled.
#[derive(Clone, Debug)]
pub struct Record {
    pub seq: i64,
    /// The engine that handled it.
    pub shard: u32,
    pub at: Time,
    pub input: Input,
}

/// A record that can not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// The very last one: cut off in the middle of being written.
    Torn { seq: i64, what: String },
    /// One with others after it: the disk, or somebody's hand.
    Within { seq: i64, what: String },
    /// Records that are not there, between others that are.
    Missing { from: i64, to: i64 },
}

impl Damaged {
    /// The record, or the last of them.
    pub fn seq(&self) -> i64 {
        match self {
            Damaged::Torn { seq, .. } | Damaged::Within { seq, .. } | Damaged::Missing { to: seq, .. } => *seq,
        }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damaged::Torn { seq, what } => {
                write!(f, "the last record of the journal, {seq}, is torn ({what}); dropped")
            }
            Damaged::Missing { from, to } => {
                write!(f, "records {from} to {to} of the journal are missing; what they led to is not known")
            }
            Damaged::Within { seq, what } => write!(f, "record {seq} of the journal is damaged ({what}); skipped"),
        }
    }
}

/// Rows read at once. No read lasts longer than a page, so that the writer can tidy up behind it.
const PAGE: i64 = 512;

/// Every record there is, in the order in which they were handled.
pub struct Records<'c> {
    connection: &'c Connection,
    page: VecDeque<Row>,
    /// The last row that was read.
    newest: i64,
    /// Up to this one: what is written meanwhile is not read.
    end: i64,
}

/// A row as it lies in the table.
struct Row {
    seq: i64,
    shard: u32,
    at: i64,
    body: Vec<u8>,
    sum: i64,
}

impl<'c> Records<'c> {
    /// All that are there now.
    pub fn all(connection: &'c Connection) -> rusqlite::Result<Records<'c>> {
        Records::after(connection, i64::MIN)
    }

    /// Those that follow the record `seq`.
    pub fn after(connection: &'c Connection, seq: i64) -> rusqlite::Result<Records<'c>> {
        let end = connection.query_row("SELECT coalesce(max(seq), 0) FROM journal", [], |row| row.get(0))?;
        Ok(Records { connection, page: VecDeque::new(), newest: seq, end })
    }

    /// The last `count`, or as many as there are.
    pub fn last(connection: &'c Connection, count: u32) -> rusqlite::Result<Records<'c>> {
        let before = "SELECT seq FROM journal ORDER BY seq DESC LIMIT 1 OFFSET ?1";
        let mut statement = connection.prepare_cached(before)?;
        let before = statement.query_map([count], |row| row.get(0))?.next().transpose()?;
        Records::after(connection, before.unwrap_or(i64::MIN))
    }

    fn turn_the_page(&mut self) -> rusqlite::Result<()> {
        let query = "SELECT seq, shard, at, body, sum FROM journal WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3";
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map(params![self.newest, self.end, PAGE], |row| {
            let body = row.get_ref(3)?.as_bytes_or_null()?.unwrap_or_default().to_vec();
            Ok(Row { seq: row.get(0)?, shard: row.get(1)?, at: row.get(2)?, body, sum: row.get(4)? })
        })?;
        self.page = rows.collect::<rusqlite::Result<_>>()?;
        self.newest = self.page.back().map_or(self.newest, |row| row.seq);
        Ok(())
    }
}

impl Iterator for Records<'_> {
    type Item = rusqlite::Result<Result<Record, Damaged>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.page.is_empty()
            && let Err(error) = self.turn_the_page()
        {
            return Some(Err(error));
        }
        let row = self.page.pop_front()?;
        let is_last = row.seq == self.end;
        Some(Ok(read(&row).map_err(|what| match is_last {
            true => Damaged::Torn { seq: row.seq, what },
            false => Damaged::Within { seq: row.seq, what },
        })))
    }
}

fn read(row: &Row) -> Result<Record, String> {
    let body = std::str::from_utf8(&row.body).map_err(|_| "not UTF-8")?;
    if sum(body) != row.sum {
        return Err("its checksum does not fit".into());
    }
    let at = u64::try_from(row.at).map_err(|_| "a time before 1970")?;
    let input = serde_json::from_str(body).map_err(|error| error.to_string())?;
    Ok(Record { seq: row.seq, shard: row.shard, at: Time(at), input })
}

#[cfg(test)]
mod tests {
    use super::super::record::encode;
    use super::*;

    fn journal(bodies: &[(&str, i64)]) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("../stores/sqlite/migrations/0001.sql")).unwrap();
        for (body, sum) in bodies {
            let insert = "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, 7, NULL, ?1, ?2)";
            connection.execute(insert, params![body, sum]).unwrap();
        }
        connection
    }

    fn told(connection: &Connection) -> Vec<String> {
        let tell = |read: rusqlite::Result<Result<Record, Damaged>>| match read.unwrap() {
            Ok(record) => format!("{} {:?}", record.seq, record.input),
            Err(damaged) => damaged.to_string(),
        };
        Records::all(connection).unwrap().map(tell).collect()
    }

    #[test]
    fn a_torn_end_is_dropped_and_damage_within_is_told_and_skipped() {
        let (tick, fits) = encode(&Input::Tick);
        let (resumed, also_fits) = encode(&Input::Resumed);
        let journal = journal(&[
            (&tick, fits),
            ("\"Tock\"", fits),
            ("\"Tock\"", sum("\"Tock\"")),
            (&resumed, also_fits),
            (&resumed[..4], also_fits),
        ]);
        let told = told(&journal);
        assert_eq!((told[0].as_str(), told[3].as_str()), ("1 Tick", "4 Resumed"));
        assert_eq!(told[1], "record 2 of the journal is damaged (its checksum does not fit); skipped");
        assert!(told[2].starts_with("record 3 of the journal is damaged (unknown variant"), "{}", told[2]);
        assert_eq!(told[4], "the last record of the journal, 5, is torn (its checksum does not fit); dropped");
    }

    #[test]
    fn many_pages_are_read_in_order_and_the_last_few_alone() {
        let (tick, fits) = encode(&Input::Tick);
        let journal = journal(&vec![(tick.as_str(), fits); 1300]);
        let seqs = |records: Records<'_>| records.map(|record| record.unwrap().unwrap().seq).collect::<Vec<_>>();
        assert_eq!(seqs(Records::all(&journal).unwrap()), (1..=1300).collect::<Vec<_>>());
        assert_eq!(seqs(Records::last(&journal, 2).unwrap()), [1299, 1300]);
        assert_eq!(seqs(Records::last(&journal, 5000).unwrap()).len(), 1300);
        assert_eq!(seqs(Records::after(&journal, 1299).unwrap()), [1300]);
    }
}
