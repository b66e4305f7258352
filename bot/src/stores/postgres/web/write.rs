//! Writes what was decided.

use std::collections::HashSet;

use aizuchi_core::types::{Time, Voice};

use super::super::connection::{OwnedValue, PgConnection};
use super::super::error::PgResult;
use super::super::inbox;
use super::super::text::to_stored;
use crate::ports::{Speaker, WebBody, WebMessage, WebRoom, WebWrite};

/// The platform whose talk this is.
const PLATFORM: &str = "web";

pub fn write(connection: &PgConnection, write: &WebWrite) -> PgResult<()> {
    match write {
        WebWrite::Add(message) => add(connection, message),
        WebWrite::Update(message) => update(connection, message),
        WebWrite::OpenRoom(room) => open_room(connection, room),
        WebWrite::RemoveRoom(room) => remove_room(connection, room),
        WebWrite::Enter { secret, person, room, at } => enter(connection, secret, person, room, *at),
        WebWrite::Spoke { room, by, at, unless_since } => spoke(connection, room, by, *at, *unless_since),
        WebWrite::LimitPeople { at_most, besides } => limit_people(connection, *at_most, besides),
        WebWrite::DropUnseen(since) => drop_unseen(connection, *since),
        WebWrite::DropPerson(id) => drop_person(connection, id),
        WebWrite::Leave(entry, at) => inbox::keep(connection, PLATFORM, std::slice::from_ref(entry), *at).map(drop),
    }
}

fn add(connection: &PgConnection, message: &WebMessage) -> PgResult<()> {
    let WebMessage { id, room, seq, first_seq, key, body } = message;
    let insert = "INSERT INTO web_message (id, room, seq, first_seq, key, body, author, own)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values: Vec<OwnedValue> = vec![
        Box::new(owned(id)),
        Box::new(owned(room)),
        Box::new(seq.cast_signed()),
        Box::new(first_seq.cast_signed()),
        Box::new(key.as_deref().map(owned)),
        Box::new(encode_body(body)),
        Box::new(owned(&body.by.id)),
        Box::new(body.voice == Voice::Me),
    ];
    connection.execute_later(insert, values)
}

fn update(connection: &PgConnection, message: &WebMessage) -> PgResult<()> {
    let WebMessage { id, seq, key, body, .. } = message;
    let update = "UPDATE web_message SET seq = $2, key = $3, body = $4, author = $5, own = $6 WHERE id = $1";
    let values: Vec<OwnedValue> = vec![
        Box::new(owned(id)),
        Box::new(seq.cast_signed()),
        Box::new(key.as_deref().map(owned)),
        Box::new(encode_body(body)),
        Box::new(owned(&body.by.id)),
        Box::new(body.voice == Voice::Me),
    ];
    connection.execute_later(update, values)
}

fn owned(text: &str) -> String {
    to_stored(text).into_owned()
}

fn encode_body(body: &WebBody) -> String {
    serde_json::to_string(body).expect("a message is plain data")
}

fn open_room(connection: &PgConnection, room: &WebRoom) -> PgResult<()> {
    let insert = "INSERT INTO web_room (name, opened, opened_by) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING";
    let (name, by) = (to_stored(&room.name), room.opened_by.as_deref().map(to_stored));
    connection.execute(insert, &[&name, &(room.opened.0 as i64), &by]).map(drop)
}

fn remove_room(connection: &PgConnection, room: &str) -> PgResult<()> {
    let room = to_stored(room);
    for table in ["web_message WHERE room", "web_member WHERE room", "web_room WHERE name"] {
        connection.execute(&format!("DELETE FROM {table} = $1"), &[&room])?;
    }
    Ok(())
}

fn enter(connection: &PgConnection, secret: &str, person: &Speaker, room: &str, at: Time) -> PgResult<()> {
    let (secret, id, name, room) = (to_stored(secret), to_stored(&person.id), to_stored(&person.name), to_stored(room));
    let upsert = "INSERT INTO web_person (secret, id, name, seen) VALUES ($1, $2, $3, $4)
        ON CONFLICT (secret) DO UPDATE SET name = excluded.name, seen = excluded.seen";
    connection.execute(upsert, &[&secret, &id, &name, &(at.0 as i64)])?;
    let renamed = "UPDATE web_member SET name = $3 WHERE room = $1 AND person = $2 AND name <> $3";
    connection.execute(renamed, &[&room, &id, &name]).map(drop)
}

fn spoke(connection: &PgConnection, room: &str, by: &Speaker, at: Time, unless_since: Time) -> PgResult<()> {
    let (room, id, name, at) = (owned(room), owned(&by.id), owned(&by.name), at.0 as i64);
    // In one round trip: nothing happens if they spoke recently, or are unknown.
    let note = "WITH known AS (
            UPDATE web_person SET spoke = $4 WHERE id = $2 AND NOT EXISTS (
                SELECT 1 FROM web_member WHERE room = $1 AND person = $2 AND name = $3 AND spoke > $5)
            RETURNING id
        )
        INSERT INTO web_member (room, person, name, spoke) SELECT $1, id, $3, $4 FROM known
        ON CONFLICT (room, person) DO UPDATE SET name = excluded.name, spoke = excluded.spoke";
    let values: Vec<OwnedValue> =
        vec![Box::new(room), Box::new(id), Box::new(name), Box::new(at), Box::new(unless_since.0 as i64)];
    connection.execute_later(note, values)
}

fn limit_people(connection: &PgConnection, at_most: u32, besides: &HashSet<String>) -> PgResult<()> {
    let count: i64 = connection.one("SELECT count(*) FROM web_person", &[])?.get(0);
    let excess = count - i64::from(at_most);
    if excess <= 0 {
        return Ok(());
    }
    // A few more than needed, so that the next few people do not cause another search.
    let wanted = excess + i64::from(at_most / 20);
    let besides: Vec<_> = besides.iter().map(|id| to_stored(id)).collect();
    let choose = "SELECT id FROM web_person WHERE id <> ALL ($1) ORDER BY spoke > 0, seen LIMIT $2";
    let ids: Vec<String> = connection.query(choose, &[&besides, &wanted])?.iter().map(|row| row.get(0)).collect();
    connection.execute("DELETE FROM web_person WHERE id = ANY ($1)", &[&ids])?;
    connection.execute("DELETE FROM web_member WHERE person = ANY ($1)", &[&ids]).map(drop)
}

fn drop_unseen(connection: &PgConnection, since: Time) -> PgResult<()> {
    connection.execute("DELETE FROM web_person WHERE seen < $1", &[&(since.0 as i64)])?;
    let delete = "DELETE FROM web_member WHERE NOT EXISTS (SELECT 1 FROM web_person WHERE id = person)";
    connection.execute(delete, &[]).map(drop)
}

fn drop_person(connection: &PgConnection, id: &str) -> PgResult<()> {
    let id = to_stored(id);
    connection.execute("DELETE FROM web_member WHERE person = $1", &[&id])?;
    connection.execute("UPDATE web_room SET opened_by = NULL WHERE opened_by = $1", &[&id])?;
    connection.execute("DELETE FROM web_person WHERE id = $1", &[&id]).map(drop)
}
