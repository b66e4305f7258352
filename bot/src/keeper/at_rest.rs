//! Forgets in a store that no program runs on: in the journal, in the state the engines start from, and in memory.

use std::sync::Arc;

use aizuchi_core::input::Command;
use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::{PersonId, RoomId};
use aizuchi_core::{Engine, Input, Time};

use super::Keeper;
use crate::journal::{Journal, ShardState};
use crate::runtime::{recover_engines, shard_of};

impl Keeper {
    /// Forgets a person. What the platforms themselves keep of them stays.
    pub async fn forget_at_rest(&self, person: PersonId) -> anyhow::Result<()> {
        let (request, _) = self.look_up(vec![person.clone()], &[], &[]).await?;
        let (policies, request) = (self.policies(), Arc::new(request));
        let (journal, at, engines) = self.engines_at_rest().await?;
        let shards = engines.len();
        for (shard, mut engine) in engines.into_iter().enumerate() {
            let found = journal.footprints(shard, shards, request.clone()).await?;
            engine.forget(at, &found.request.recognizer(), &mut Vec::new());
            journal.forget(found, &policies, state(shard, shards, at, &engine)).await?;
        }
        let (names, rooms) = (request.names.clone(), request.rooms.clone());
        self.memory.apply(vec![MemoryChange::PersonForgotten { person, names, rooms }], &policies).await?;
        Ok(())
    }

    /// Forgets everything that was said in a room.
    pub async fn forget_room_at_rest(&self, room: RoomId) -> anyhow::Result<()> {
        let policies = self.policies();
        let (journal, at, mut engines) = self.engines_at_rest().await?;
        let (shards, shard) = (engines.len(), shard_of(&room, engines.len()));
        engines[shard].handle(at, Input::Told(room.clone(), Command::Reset), &mut Vec::new());
        journal.forget_closed(room.clone(), &policies, state(shard, shards, at, &engines[shard])).await?;
        self.memory.apply(vec![MemoryChange::RoomForgotten { room }], &policies).await?;
        Ok(())
    }

    /// The engines as the next start would find them.
    async fn engines_at_rest(&self) -> anyhow::Result<(Journal, Time, Vec<Engine>)> {
        let (policies, journal) = (self.policies(), Journal::new(self.stores.clone()));
        let found = recover_engines(&self.stores, &journal, &policies, policies.stated().shards()).await?;
        Ok((journal, found.last_at, found.engines))
    }
}

fn state(shard: usize, shards: usize, at: Time, engine: &Engine) -> ShardState {
    ShardState { shards, ..ShardState::of(shard, at, engine) }
}
