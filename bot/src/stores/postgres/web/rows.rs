//! Reads messages and rooms.

use aizuchi_core::types::Time;
use tokio_postgres::Row;

use super::super::connection::{PgConnection, Value};
use super::super::error::{PgError, PgResult};
use super::super::text::{from_stored, to_stored};
use crate::ports::{WebMessage, WebRoom};
use crate::stores::StoreError;

pub const COLUMNS: &str = "id, room, seq, first_seq, key, body";
pub const LAST_SEQ: &str = "SELECT seq FROM web_counter";
pub const ROOM: &str = "SELECT name, opened, opened_by FROM web_room WHERE name = $1";
pub const ROOMS: &str = "SELECT name, opened, opened_by FROM web_room ORDER BY opened, name";
pub const SILENT_ROOMS: &str = "SELECT name FROM web_room
    WHERE NOT EXISTS (SELECT 1 FROM web_message WHERE room = name) ORDER BY opened, name";
pub const MEMBERS: &str =
    "SELECT person, name FROM web_member WHERE room = $1 AND spoke > 0 ORDER BY spoke DESC LIMIT $2";

/// Messages selected by the rest of a query.
pub fn messages(connection: &PgConnection, rest: &str, values: &[Value<'_>]) -> PgResult<Vec<WebMessage>> {
    connection.query(&format!("SELECT {COLUMNS} FROM web_message {rest}"), values)?.iter().map(message).collect()
}

pub fn message(row: &Row) -> PgResult<WebMessage> {
    let body: &str = row.get(5);
    let unreadable = |error: serde_json::Error| {
        PgError::Final(StoreError::Failed(format!("cannot read a message of the web room: {error}")))
    };
    let number = |column| row.get::<_, i64>(column).cast_unsigned();
    Ok(WebMessage {
        id: from_stored(row.get(0)),
        room: from_stored(row.get(1)),
        seq: number(2),
        first_seq: number(3),
        key: row.get::<_, Option<String>>(4).map(from_stored),
        body: serde_json::from_str(body).map_err(unreadable)?,
    })
}

/// Some messages of a room, oldest first, and whether there are older ones.
pub fn history(
    connection: &PgConnection,
    room: &str,
    before: u64,
    at_most: usize,
) -> PgResult<(Vec<WebMessage>, bool)> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let rest = "WHERE room = $1 AND first_seq < $2 ORDER BY first_seq DESC LIMIT $3";
    let mut found = messages(connection, rest, &[&to_stored(room), &before, &(at_most as i64 + 1)])?;
    let more = found.len() > at_most;
    found.truncate(at_most);
    found.reverse();
    Ok((found, more))
}

pub fn changes(connection: &PgConnection, room: Option<&str>, since: u64, at_most: usize) -> PgResult<Vec<WebMessage>> {
    let (since, at_most) = (i64::try_from(since).unwrap_or(i64::MAX), at_most as i64);
    match room {
        None => messages(connection, "WHERE seq > $1 ORDER BY seq LIMIT $2", &[&since, &at_most]),
        Some(room) => {
            // Two ordered lists, merged: messages said since and not changed, and messages changed since.
            let query = "(SELECT id, room, first_seq, first_seq, key, body FROM web_message
                WHERE room = $1 AND first_seq > $2 AND seq = first_seq ORDER BY first_seq LIMIT $3)
                UNION ALL (SELECT id, room, seq, first_seq, key, body FROM web_message
                WHERE room = $1 AND seq > $2 AND seq <> first_seq ORDER BY seq LIMIT $3) ORDER BY 3 LIMIT $3";
            connection.query(query, &[&to_stored(room), &since, &at_most])?.iter().map(message).collect()
        }
    }
}

pub fn last_seq(connection: &PgConnection) -> PgResult<u64> {
    Ok(connection.one(LAST_SEQ, &[])?.get::<_, i64>(0).cast_unsigned())
}

pub fn web_room(row: &Row) -> WebRoom {
    WebRoom {
        name: from_stored(row.get(0)),
        opened: Time(row.get::<_, i64>(1).cast_unsigned()),
        opened_by: row.get::<_, Option<String>>(2).map(from_stored),
    }
}

pub fn count_messages(connection: &PgConnection) -> PgResult<Vec<(WebRoom, u64)>> {
    let query = "SELECT name, opened, opened_by, (SELECT count(*) FROM web_message WHERE room = name)
        FROM web_room ORDER BY opened, name";
    let counted = |row: &Row| (web_room(row), row.get::<_, i64>(3).cast_unsigned());
    Ok(connection.query(query, &[])?.iter().map(counted).collect())
}
