//! Rooms that the bot left: they are forgotten after a while, unless it comes back.

use aizuchi_core::input::Command;
use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Time};

use super::{ForgetError, Keeper};
use crate::journal::Journal;
use crate::ports::Record;
use crate::runtime::EngineHandle;
use crate::stores::StoreError;

impl Keeper {
    /// Notes which rooms the bot left, and which it is in after all: if it hears a message in a room, it is there.
    pub(super) async fn note_left_rooms(&self, records: &[Record]) -> Result<(), StoreError> {
        let mut changed: Vec<(RoomId, Option<Time>)> = Vec::new();
        for record in records {
            if let Input::Told(room, Command::Left) = &record.input {
                changed.push((room.clone(), Some(record.at)));
            } else if let Input::Said(message) = &record.input {
                let room = &message.place.room;
                // Only the latest counts, and most rooms are never left.
                if changed.iter().rev().find(|(of, _)| of == room).is_none_or(|(_, left)| left.is_some()) {
                    changed.push((room.clone(), None));
                }
            }
        }
        let any_left =
            async { Ok::<_, StoreError>(!self.stores.keeper.left_by(Time(u64::MAX >> 1)).await?.is_empty()) };
        if changed.iter().all(|(_, left)| left.is_none()) && !any_left.await? {
            return Ok(());
        }
        self.stores.keeper.note_left(changed).await
    }

    /// Forgets a room that is closed for good, at once: memory, journal and files.
    pub async fn forget_room(&self, room: RoomId, engine: &EngineHandle) -> Result<(), ForgetError> {
        self.catch_up().await?;
        self.memory.apply(vec![MemoryChange::RoomForgotten { room: room.clone() }], &self.policies()).await?;
        engine.close(&room).await?;
        Ok(self.settle().await?)
    }

    /// Forgets rooms that were left before this time: memory and journal.
    pub(super) async fn forget_left(&self, before: Time) -> Result<(), StoreError> {
        let rooms = self.stores.keeper.left_by(before).await?;
        if rooms.is_empty() {
            return Ok(());
        }
        let forgotten = rooms.iter().map(|room| MemoryChange::RoomForgotten { room: room.clone() }).collect();
        self.memory.apply(forgotten, &self.policies()).await?;
        Journal::new(self.stores.clone()).forget_rooms(rooms.clone()).await?;
        self.stores.keeper.note_left(rooms.into_iter().map(|room| (room, None)).collect()).await?;
        self.settle().await
    }
}
