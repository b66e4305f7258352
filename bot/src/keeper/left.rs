//! Rooms it is no longer in: forgotten after a while, unless it comes back.

use aizuchi_core::input::Command;
use aizuchi_core::memory::Change;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Time};
use rusqlite::{Connection, Transaction, params};

use super::Keeper;
use crate::journal::{Journal, Record};
use crate::stores::StoreError;

impl Keeper {
    /// Notes which rooms were left, and which it is in after all: whoever hears talk is there.
    pub(super) async fn follow_rooms(&self, records: &[Record]) -> Result<(), StoreError> {
        let mut changed: Vec<(RoomId, Option<Time>)> = Vec::new();
        for record in records {
            match &record.input {
                Input::Told(room, Command::Left) => changed.push((room.clone(), Some(record.at))),
                Input::Said(message) => {
                    let room = &message.place.room;
                    // Only the latest counts, and most rooms are never left.
                    if changed.iter().rev().find(|(of, _)| of == room).is_none_or(|(_, left)| left.is_some()) {
                        changed.push((room.clone(), None));
                    }
                }
                _ => (),
            }
        }
        let any_left = self.database.read(|connection| Ok(!left_before(connection, Time(u64::MAX >> 1))?.is_empty()));
        if changed.iter().all(|(_, left)| left.is_none()) && !any_left.await? {
            return Ok(());
        }
        let write = move |transaction: &Transaction<'_>| {
            for (room, left) in &changed {
                match left {
                    Some(at) => {
                        let insert = "INSERT OR REPLACE INTO keeper_left VALUES (?1, ?2)";
                        transaction.prepare_cached(insert)?.execute(params![room.as_str(), at.0 as i64])?;
                    }
                    None => {
                        let delete = "DELETE FROM keeper_left WHERE room = ?1";
                        transaction.prepare_cached(delete)?.execute([room.as_str()])?;
                    }
                }
            }
            Ok(())
        };
        self.database.write(write).await
    }

    /// Forgets a room at once that is closed for good: memory, and of the journal what no start needs. The rest follows as
    /// for every room that was left.
    pub async fn forget_room(&self, room: RoomId) -> Result<(), StoreError> {
        self.catch_up().await?;
        self.memory.apply(vec![Change::RoomForgotten { room: room.clone() }], &self.policies()).await?;
        Journal::new(self.database.clone()).forget_rooms(vec![room]).await?;
        self.settle().await
    }

    /// Forgets what was left before this time: memory and journal.
    pub(super) async fn forget_left(&self, before: Time) -> Result<(), StoreError> {
        let rooms = self.database.read(move |connection| left_before(connection, before)).await?;
        if rooms.is_empty() {
            return Ok(());
        }
        let forgotten = rooms.iter().map(|room| Change::RoomForgotten { room: room.clone() }).collect();
        self.memory.apply(forgotten, &self.policies()).await?;
        Journal::new(self.database.clone()).forget_rooms(rooms.clone()).await?;
        let write = move |transaction: &Transaction<'_>| {
            let mut delete = transaction.prepare_cached("DELETE FROM keeper_left WHERE room = ?1")?;
            rooms.iter().try_for_each(|room| delete.execute([room.as_str()]).map(drop))
        };
        self.database.write(write).await?;
        self.settle().await
    }
}

fn left_before(connection: &Connection, before: Time) -> rusqlite::Result<Vec<RoomId>> {
    let mut statement = connection.prepare_cached("SELECT room FROM keeper_left WHERE at <= ?1")?;
    let rooms = statement.query_map([before.0 as i64], |row| Ok(RoomId::new(row.get::<_, String>(0)?)))?;
    rooms.collect()
}
