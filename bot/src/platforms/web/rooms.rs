//! The web rooms themselves: opened, listed, let go of when nobody comes back, closed for good.

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::Time;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::platform::PLATFORM;
use super::talk::{Changed, Refusal, Stored, next_seq, room_id};
use crate::lookalike::case_folded;
use crate::ports::InboxEntry;
use crate::stores::sqlite::keep_entries;

/// Opens a room if there is none of this name; `by` is who may close it.
pub fn open(transaction: &Transaction<'_>, room: &str, by: Option<&str>, at: Time) -> rusqlite::Result<()> {
    let insert = "INSERT OR IGNORE INTO web_room (name, opened, opened_by) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(insert)?.execute(params![room, at.0 as i64, by]).map(drop)
}

pub fn is_room(connection: &Connection, room: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM web_room WHERE name = ?1")?.exists([room])
}

/// The room of this name, or else one whose name differs from it only in case and width.
pub fn named(connection: &Connection, room: &str) -> rusqlite::Result<Option<String>> {
    if is_room(connection, room)? {
        return Ok(Some(room.to_owned()));
    }
    let wanted = case_folded(room);
    let mut query = connection.prepare_cached("SELECT name FROM web_room ORDER BY opened, name")?;
    let mut names = query.query_map([], |row| row.get::<_, String>(0))?;
    names.find(|name| name.as_ref().map_or(true, |name| case_folded(name) == wanted)).transpose()
}

/// Who opened a room, where that is known; `None` if there is no such room.
pub fn opener(connection: &Connection, room: &str) -> rusqlite::Result<Option<Option<String>>> {
    let query = "SELECT opened_by FROM web_room WHERE name = ?1";
    connection.prepare_cached(query)?.query_row([room], |row| row.get(0)).optional()
}

pub fn all(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT name FROM web_room WHERE name NOT LIKE 'sample-%' ORDER BY opened, name";
    connection.prepare_cached(query)?.query_map([], |row| row.get(0))?.collect()
}

/// A room as the command line lists it.
pub struct ListedRoom {
    pub name: String,
    pub opened: Time,
    pub messages: u64,
}

pub fn listed(connection: &Connection) -> rusqlite::Result<Vec<ListedRoom>> {
    let query = "SELECT name, opened, (SELECT count(*) FROM web_message WHERE room = name) \
                 FROM web_room WHERE name NOT LIKE 'sample-%' ORDER BY opened, name";
    let number = |row: &rusqlite::Row<'_>, index| row.get::<_, i64>(index).map(|number| number as u64);
    let room = |row: &rusqlite::Row<'_>| {
        Ok(ListedRoom { name: row.get(0)?, opened: Time(number(row, 1)?), messages: number(row, 2)? })
    };
    connection.prepare(query)?.query_map([], room)?.collect()
}

/// Rooms in which nobody ever spoke, the oldest first.
pub fn never_used(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let query = "SELECT name FROM web_room WHERE name NOT LIKE 'sample-%' \
                 AND NOT EXISTS (SELECT 1 FROM web_message WHERE room = name) ORDER BY opened, name";
    connection.prepare_cached(query)?.query_map([], |row| row.get(0))?.collect()
}

/// Closes a room; the engine is to hear of it, so that nothing pending is posted there. With `by`, only if they opened it.
pub fn close(
    transaction: &Transaction<'_>,
    room: &str,
    by: Option<&str>,
) -> rusqlite::Result<Result<Changed, Refusal>> {
    let Some(opened_by) = opener(transaction, room)? else { return Ok(Err(Refusal::RoomClosed)) };
    if by.is_some_and(|by| opened_by.as_deref() != Some(by)) {
        return Ok(Err(Refusal::NotYourRoom));
    }
    remove(transaction, room)?;
    let seq = next_seq(transaction)?;
    let input = Some(Input::Told(room_id(room), Command::Left));
    Ok(Ok(Changed { stored: Stored { id: room.to_owned(), seq }, input }))
}

/// The same while the program does not run: the engine hears of it at the next start. `false` if there is no such room.
pub fn close_unheard(transaction: &Transaction<'_>, room: &str, now: Time) -> rusqlite::Result<bool> {
    let Ok(Changed { stored, input }) = close(transaction, room, None)? else { return Ok(false) };
    let body = serde_json::to_string(&input).expect("an input is plain data");
    let entry = InboxEntry { key: format!("w{}", stored.seq), body: Some(body), ..InboxEntry::default() };
    keep_entries(transaction, PLATFORM, &[entry], now).map(|_| true)
}

/// Takes a room away with everything in it.
pub fn remove(transaction: &Transaction<'_>, room: &str) -> rusqlite::Result<()> {
    for table in ["web_message WHERE room", "web_member WHERE room", "web_room WHERE name"] {
        transaction.prepare_cached(&format!("DELETE FROM {table} = ?1"))?.execute([room])?;
    }
    Ok(())
}

/// Lets go of what nobody comes back to: samples that were opened before this time, and people unseen since long before.
pub fn sweep(transaction: &Transaction<'_>, samples_before: Time, people_before: Time) -> rusqlite::Result<()> {
    let samples = "(SELECT name FROM web_room WHERE name LIKE 'sample-%' AND opened < ?1)";
    for table in ["web_message WHERE room", "web_member WHERE room", "web_room WHERE name"] {
        transaction.execute(&format!("DELETE FROM {table} IN {samples}"), [samples_before.0 as i64])?;
    }
    transaction.execute("DELETE FROM web_person WHERE seen < ?1", [people_before.0 as i64])?;
    transaction.execute("DELETE FROM web_member WHERE person NOT IN (SELECT id FROM web_person)", []).map(drop)
}
