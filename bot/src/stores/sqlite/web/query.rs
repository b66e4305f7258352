//! Reads what a change depends on.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::rows;
use crate::ports::{Speaker, WebQuery, WebQueryResult};

pub fn find(connection: &Connection, look: &WebQuery) -> rusqlite::Result<WebQueryResult> {
    let mut found = WebQueryResult { last_seq: rows::last_seq(connection)?, ..WebQueryResult::default() };
    if let Some(room) = &look.room {
        found.room = rows::room(connection, room)?;
        for id in &look.ids {
            found.messages.extend(rows::messages(connection, "WHERE id = ?1 AND room = ?2", [id, room])?);
        }
        if look.members > 0 {
            found.members = members(connection, room, look.members)?;
        }
    }
    for key in &look.keys {
        found.by_key.extend(rows::messages(connection, "WHERE key = ?1", [key])?);
    }
    if look.all_messages {
        found.messages = rows::messages(connection, "ORDER BY seq", [])?;
    }
    if let Some(secret) = &look.secret {
        let query = "SELECT id FROM web_person WHERE secret = ?1";
        found.person = connection.prepare_cached(query)?.query_row([secret], |row| row.get(0)).optional()?;
    }
    if look.rooms {
        found.rooms = rows::rooms(connection)?;
    }
    if look.silent_rooms {
        found.silent_rooms = rows::silent_rooms(connection)?;
    }
    Ok(found)
}

fn members(connection: &Connection, room: &str, at_most: usize) -> rusqlite::Result<Vec<Speaker>> {
    let query = "SELECT person, name FROM web_member WHERE room = ?1 AND spoke > 0 ORDER BY spoke DESC LIMIT ?2";
    let speaker = |row: &Row<'_>| Ok(Speaker { id: row.get(0)?, name: row.get(1)? });
    connection.prepare_cached(query)?.query_map(params![room, at_most as i64], speaker)?.collect()
}
