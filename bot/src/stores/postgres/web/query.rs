//! Reads what a change depends on.

use super::super::connection::{PgConnection, Value};
use super::super::error::PgResult;
use super::super::text::{from_stored, to_stored};
use super::rows::{self, COLUMNS};
use crate::ports::{Speaker, WebQuery, WebQueryResult};

/// What a row of the result is.
enum Part {
    LastSeq,
    Room,
    Messages,
    Members,
    ByKey,
    Person,
    Rooms,
    SilentRooms,
}

/// Everything the query asks for, in one round trip.
pub fn find(connection: &PgConnection, look: &WebQuery) -> PgResult<WebQueryResult> {
    let room = look.room.as_deref().map(to_stored);
    let ids: Vec<_> = look.ids.iter().map(|id| to_stored(id)).collect();
    let keys: Vec<_> = look.keys.iter().map(|key| to_stored(key)).collect();
    let (secret, members) = (look.secret.as_deref().map(to_stored), look.members as i64);
    let of_room = format!("SELECT {COLUMNS} FROM web_message WHERE id = ANY ($1) AND room = $2");
    let by_key = format!("SELECT {COLUMNS} FROM web_message WHERE key = ANY ($1)");
    let all = format!("SELECT {COLUMNS} FROM web_message ORDER BY seq");
    let (room_values, message_values): ([Value<'_>; 1], [Value<'_>; 2]) = ([&room], [&ids, &room]);
    let (member_values, key_values): ([Value<'_>; 2], [Value<'_>; 1]) = ([&room, &members], [&keys]);
    let secret_values: [Value<'_>; 1] = [&secret];
    let mut parts: Vec<(Part, &str, &[Value<'_>])> = vec![(Part::LastSeq, rows::LAST_SEQ, &[])];
    if room.is_some() {
        parts.push((Part::Room, rows::ROOM, &room_values));
        if !ids.is_empty() {
            parts.push((Part::Messages, &of_room, &message_values));
        }
        if members > 0 {
            parts.push((Part::Members, rows::MEMBERS, &member_values));
        }
    }
    if !keys.is_empty() {
        parts.push((Part::ByKey, &by_key, &key_values));
    }
    if look.all_messages {
        parts.push((Part::Messages, &all, &[]));
    }
    if secret.is_some() {
        parts.push((Part::Person, "SELECT id FROM web_person WHERE secret = $1", &secret_values));
    }
    if look.rooms {
        parts.push((Part::Rooms, rows::ROOMS, &[]));
    }
    if look.silent_rooms {
        parts.push((Part::SilentRooms, rows::SILENT_ROOMS, &[]));
    }
    let steps: Vec<(&str, &[Value<'_>])> = parts.iter().map(|(_, query, values)| (*query, *values)).collect();
    let mut found = WebQueryResult::default();
    for ((part, ..), answer) in parts.iter().zip(connection.pipeline(&steps)?) {
        let first = answer.first();
        match part {
            Part::LastSeq => found.last_seq = first.map_or(0, |row| row.get::<_, i64>(0).cast_unsigned()),
            Part::Room => found.room = first.map(rows::web_room),
            Part::Messages => found.messages = answer.iter().map(rows::message).collect::<PgResult<_>>()?,
            Part::Members => found.members = answer.iter().map(speaker).collect(),
            Part::ByKey => found.by_key = answer.iter().map(rows::message).collect::<PgResult<_>>()?,
            Part::Person => found.person = first.map(|row| from_stored(row.get(0))),
            Part::Rooms => found.rooms = answer.iter().map(rows::web_room).collect(),
            Part::SilentRooms => found.silent_rooms = answer.iter().map(|row| from_stored(row.get(0))).collect(),
        }
    }
    in_the_order_asked(&mut found, look);
    Ok(found)
}

/// Messages that were requested by id are in that order.
fn in_the_order_asked(found: &mut WebQueryResult, look: &WebQuery) {
    if !look.all_messages {
        found.messages.sort_by_key(|message| look.ids.iter().position(|id| *id == message.id));
    }
    found.by_key.sort_by_key(|message| look.keys.iter().position(|key| Some(key) == message.key.as_ref()));
}

fn speaker(row: &tokio_postgres::Row) -> Speaker {
    Speaker { id: from_stored(row.get(0)), name: from_stored(row.get(1)) }
}
