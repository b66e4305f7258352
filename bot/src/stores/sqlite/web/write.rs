//! Writes what was decided.

use std::collections::HashSet;

use aizuchi_core::types::Time;
use rusqlite::{Transaction, params};

use super::super::inbox;
use crate::ports::{Speaker, WebBody, WebMessage, WebRoom, WebWrite};

/// The platform whose talk this is.
const PLATFORM: &str = "web";

pub fn write(transaction: &Transaction<'_>, write: &WebWrite) -> rusqlite::Result<()> {
    match write {
        WebWrite::Add(message) => add(transaction, message),
        WebWrite::Update(message) => update(transaction, message),
        WebWrite::OpenRoom(room) => open_room(transaction, room),
        WebWrite::RemoveRoom(room) => remove_room(transaction, room),
        WebWrite::Enter { secret, person, room, at } => enter(transaction, secret, person, room, *at),
        WebWrite::Spoke { room, by, at, unless_since } => spoke(transaction, room, by, *at, *unless_since),
        WebWrite::LimitPeople { at_most, besides } => limit_people(transaction, *at_most, besides),
        WebWrite::DropUnseen(since) => drop_unseen(transaction, *since),
        WebWrite::DropPerson(id) => drop_person(transaction, id),
        WebWrite::Leave(entry, at) => inbox::keep(transaction, PLATFORM, std::slice::from_ref(entry), *at).map(drop),
    }
}

fn add(transaction: &Transaction<'_>, message: &WebMessage) -> rusqlite::Result<()> {
    let WebMessage { id, room, seq, first_seq, key, body } = message;
    let insert = "INSERT INTO web_message (id, room, seq, first_seq, key, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let row = params![id, room, *seq as i64, *first_seq as i64, key, encode_body(body)];
    transaction.prepare_cached(insert)?.execute(row).map(drop)
}

fn update(transaction: &Transaction<'_>, message: &WebMessage) -> rusqlite::Result<()> {
    let WebMessage { id, seq, key, body, .. } = message;
    let update = "UPDATE web_message SET seq = ?2, key = ?3, body = ?4 WHERE id = ?1";
    transaction.prepare_cached(update)?.execute(params![id, *seq as i64, key, encode_body(body)]).map(drop)
}

fn encode_body(body: &WebBody) -> String {
    serde_json::to_string(body).expect("a message is plain data")
}

fn open_room(transaction: &Transaction<'_>, room: &WebRoom) -> rusqlite::Result<()> {
    let insert = "INSERT OR IGNORE INTO web_room (name, opened, opened_by) VALUES (?1, ?2, ?3)";
    transaction.prepare_cached(insert)?.execute(params![room.name, room.opened.0 as i64, room.opened_by]).map(drop)
}

fn remove_room(transaction: &Transaction<'_>, room: &str) -> rusqlite::Result<()> {
    for table in ["web_message WHERE room", "web_member WHERE room", "web_room WHERE name"] {
        transaction.prepare_cached(&format!("DELETE FROM {table} = ?1"))?.execute([room])?;
    }
    Ok(())
}

fn enter(transaction: &Transaction<'_>, secret: &str, person: &Speaker, room: &str, at: Time) -> rusqlite::Result<()> {
    let upsert = "INSERT INTO web_person (secret, id, name, seen) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (secret) DO UPDATE SET name = ?3, seen = ?4";
    transaction.prepare_cached(upsert)?.execute(params![secret, person.id, person.name, at.0 as i64])?;
    let renamed = "UPDATE web_member SET name = ?3 WHERE room = ?1 AND person = ?2 AND name != ?3";
    transaction.prepare_cached(renamed)?.execute([room, &person.id, &person.name]).map(drop)
}

fn spoke(
    transaction: &Transaction<'_>,
    room: &str,
    by: &Speaker,
    at: Time,
    unless_since: Time,
) -> rusqlite::Result<()> {
    let lately = "SELECT 1 FROM web_member WHERE room = ?1 AND person = ?2 AND name = ?3 AND spoke > ?4";
    if transaction.prepare_cached(lately)?.exists(params![room, by.id, by.name, unless_since.0 as i64])? {
        return Ok(());
    }
    let known = "UPDATE web_person SET spoke = ?2 WHERE id = ?1";
    if transaction.prepare_cached(known)?.execute(params![by.id, at.0 as i64])? == 0 {
        return Ok(());
    }
    let upsert = "INSERT INTO web_member (room, person, name, spoke) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (room, person) DO UPDATE SET name = ?3, spoke = ?4";
    transaction.prepare_cached(upsert)?.execute(params![room, by.id, by.name, at.0 as i64]).map(drop)
}

fn limit_people(transaction: &Transaction<'_>, at_most: u32, besides: &HashSet<String>) -> rusqlite::Result<()> {
    let count: i64 = transaction.query_row("SELECT count(*) FROM web_person", [], |row| row.get(0))?;
    let excess = count - i64::from(at_most);
    if excess <= 0 {
        return Ok(());
    }
    // A few more than needed, so that the next few people do not cause another search.
    let wanted = excess + i64::from(at_most / 20);
    let by_use = "SELECT id FROM web_person ORDER BY spoke > 0, seen";
    let ids: Vec<String> =
        transaction.prepare_cached(by_use)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for id in ids.iter().filter(|id| !besides.contains(*id)).take(wanted as usize) {
        transaction.prepare_cached("DELETE FROM web_person WHERE id = ?1")?.execute([id])?;
        transaction.prepare_cached("DELETE FROM web_member WHERE person = ?1")?.execute([id])?;
    }
    Ok(())
}

fn drop_unseen(transaction: &Transaction<'_>, since: Time) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM web_person WHERE seen < ?1", [since.0 as i64])?;
    transaction.execute("DELETE FROM web_member WHERE person NOT IN (SELECT id FROM web_person)", []).map(drop)
}

fn drop_person(transaction: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM web_member WHERE person = ?1", [id])?;
    transaction.execute("UPDATE web_room SET opened_by = NULL WHERE opened_by = ?1", [id])?;
    transaction.execute("DELETE FROM web_person WHERE id = ?1", [id]).map(drop)
}
