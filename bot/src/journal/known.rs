//! What is kept of one person, counted for whoever asks about themselves.

use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::types::{MessageId, PersonId, Place, RoomId};
use aizuchi_core::{Input, Time};
use rusqlite::{Connection, params};

use super::read::Records;
use super::traces::Traces;
use crate::stores::StoreError;

/// What is kept of a person's words and deeds on one platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// In the rooms of the platform, by name: how many of their messages.
    pub rooms: BTreeMap<RoomId, usize>,
    /// When the oldest of these messages was said.
    pub since: Option<Time>,
    pub reactions: usize,
    /// Decisions about their messages.
    pub decisions: usize,
}

impl Known {
    pub fn messages(&self) -> usize {
        self.rooms.values().sum()
    }
}

impl Traces {
    /// What is known of a person on the platform of this place.
    pub async fn known(&self, person: &PersonId, place: &Place) -> Result<Known, StoreError> {
        let (person, place) = (person.clone(), place.clone());
        self.database.read(move |connection| known(connection, &person, &place)).await
    }
}

/// Messages of a person as they are met, here and there perhaps the same.
#[derive(Default)]
struct Met {
    rooms: BTreeMap<RoomId, BTreeSet<MessageId>>,
    since: Option<Time>,
}

impl Met {
    fn note(&mut self, room: RoomId, message: MessageId, at: Time) {
        self.rooms.entry(room).or_default().insert(message);
        self.since = Some(self.since.map_or(at, |since| since.min(at)));
    }
}

fn known(connection: &Connection, person: &PersonId, place: &Place) -> rusqlite::Result<Known> {
    let platform = platform_of(&place.room);
    let (mut met, mut reactions) = (Met::default(), 0);
    for record in Records::all(connection)? {
        let Ok(record) = record? else { continue };
        if record.input.room().is_none_or(|room| platform_of(room) != platform) {
            continue;
        }
        match record.input {
            Input::Said(message) if message.author.id == *person => {
                met.note(message.place.room, message.id, message.at);
            }
            Input::Reacted(reaction) if reaction.by == *person => reactions += 1,
            _ => (),
        }
    }
    if let Some(id) = person.as_str().strip_prefix("web:").filter(|_| platform == "web") {
        meet_in_web_room(connection, id, &mut met)?;
    }
    let rooms = met.rooms.into_iter().map(|(room, messages)| (room, messages.len())).collect();
    Ok(Known { rooms, since: met.since, reactions, decisions: decisions(connection, person, platform)? })
}

/// The web room keeps its talk itself, and for longer.
fn meet_in_web_room(connection: &Connection, person: &str, met: &mut Met) -> rusqlite::Result<()> {
    let query = "SELECT room, id, json_extract(body, '$.at') FROM web_message
        WHERE json_extract(body, '$.by.id') = ?1 AND NOT json_extract(body, '$.deleted')";
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query([person])?;
    while let Some(row) = rows.next()? {
        let (room, id): (String, String) = (row.get(0)?, row.get(1)?);
        met.note(RoomId::new(format!("web:{room}")), MessageId::new(id), Time(row.get::<_, i64>(2)? as u64));
    }
    Ok(())
}

fn decisions(connection: &Connection, person: &PersonId, platform: &str) -> rusqlite::Result<usize> {
    let query = "SELECT count(*) FROM trace WHERE substr(room, 1, length(?2) + 1) = ?2 || ':'
        AND CASE WHEN json_valid(body) THEN json_extract(body, '$.author_id') = ?1 ELSE 0 END";
    let count: i64 =
        connection.prepare_cached(query)?.query_row(params![person.as_str(), platform], |row| row.get(0))?;
    Ok(count as usize)
}

/// Rooms are named `platform:room`.
fn platform_of(room: &RoomId) -> &str {
    room.as_str().split_once(':').map_or("", |(platform, _)| platform)
}
