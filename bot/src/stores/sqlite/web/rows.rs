//! Reads messages and rooms.

use aizuchi_core::types::Time;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};

use crate::ports::{WebMessage, WebRoom};

const COLUMNS: &str = "id, room, seq, first_seq, key, body";

/// Messages selected by the rest of a query.
pub fn messages(connection: &Connection, rest: &str, values: impl Params) -> rusqlite::Result<Vec<WebMessage>> {
    let query = format!("SELECT {COLUMNS} FROM web_message {rest}");
    connection.prepare_cached(&query)?.query_map(values, message)?.collect()
}

fn message(row: &Row<'_>) -> rusqlite::Result<WebMessage> {
    let body: String = row.get(5)?;
    let body = serde_json::from_str(&body)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(5, Type::Text, Box::new(error)))?;
    let number = |column| row.get::<_, i64>(column).map(|number| number as u64);
    Ok(WebMessage {
        id: row.get(0)?,
        room: row.get(1)?,
        seq: number(2)?,
        first_seq: number(3)?,
        key: row.get(4)?,
        body,
    })
}

/// Some messages of a room, oldest first, and whether there are older ones.
pub fn history(
    connection: &Connection,
    room: &str,
    before: u64,
    at_most: usize,
) -> rusqlite::Result<(Vec<WebMessage>, bool)> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let rest = "WHERE room = ?1 AND first_seq < ?2 ORDER BY first_seq DESC LIMIT ?3";
    let mut found = messages(connection, rest, params![room, before, at_most as i64 + 1])?;
    let more = found.len() > at_most;
    found.truncate(at_most);
    found.reverse();
    Ok((found, more))
}

pub fn changes(
    connection: &Connection,
    room: Option<&str>,
    since: u64,
    at_most: usize,
) -> rusqlite::Result<Vec<WebMessage>> {
    let (since, at_most) = (since as i64, at_most as i64);
    match room {
        None => messages(connection, "WHERE seq > ?1 ORDER BY seq LIMIT ?2", params![since, at_most]),
        Some(room) => {
            // Two ordered lists, merged: messages said since and not changed, and messages changed since.
            let query = "SELECT id, room, first_seq, first_seq, key, body FROM web_message
                WHERE room = ?1 AND first_seq > ?2 AND seq = first_seq
                UNION ALL SELECT id, room, seq, first_seq, key, body FROM web_message
                WHERE room = ?1 AND seq > ?2 AND seq <> first_seq ORDER BY 3 LIMIT ?3";
            connection.prepare_cached(query)?.query_map(params![room, since, at_most], message)?.collect()
        }
    }
}

pub fn last_seq(connection: &Connection) -> rusqlite::Result<u64> {
    let query = "SELECT seq FROM web_counter";
    connection.prepare_cached(query)?.query_row([], |row| row.get::<_, i64>(0)).map(|seq| seq as u64)
}

pub fn room(connection: &Connection, name: &str) -> rusqlite::Result<Option<WebRoom>> {
    let query = "SELECT name, opened, opened_by FROM web_room WHERE name = ?1";
    connection.prepare_cached(query)?.query_row([name], web_room).optional()
}

pub fn rooms(connection: &Connection) -> rusqlite::Result<Vec<WebRoom>> {
    let query = "SELECT name, opened, opened_by FROM web_room ORDER BY opened, name";
    connection.prepare_cached(query)?.query_map([], web_room)?.collect()
}

pub fn silent_rooms(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT name FROM web_room \
                 WHERE NOT EXISTS (SELECT 1 FROM web_message WHERE room = name) ORDER BY opened, name";
    connection.prepare_cached(query)?.query_map([], |row| row.get(0))?.collect()
}

fn web_room(row: &Row<'_>) -> rusqlite::Result<WebRoom> {
    Ok(WebRoom { name: row.get(0)?, opened: Time(row.get::<_, i64>(1)? as u64), opened_by: row.get(2)? })
}

pub fn count_messages(connection: &Connection) -> rusqlite::Result<Vec<(WebRoom, u64)>> {
    let query = "SELECT name, opened, opened_by, (SELECT count(*) FROM web_message WHERE room = name) \
                 FROM web_room ORDER BY opened, name";
    let counted = |row: &Row<'_>| Ok((web_room(row)?, row.get::<_, i64>(3)? as u64));
    connection.prepare(query)?.query_map([], counted)?.collect()
}
