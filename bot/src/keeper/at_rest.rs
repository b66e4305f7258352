//! Forgets in a store that no program runs on: in the journal, in the state the engines start from, and in memory.

use std::sync::Arc;

use aizuchi_core::input::Command;
use aizuchi_core::memory::MemoryChange;
use aizuchi_core::memory::words::DoubtfulName;
use aizuchi_core::types::{PersonId, RoomId};
use aizuchi_core::{Engine, Input, Time};

use super::Keeper;
use super::forget::LookedUp;
use super::jobs::StoredForgetJob;
use crate::journal::{Journal, ShardState};
use crate::ports::{JobStep, Platform};
use crate::runtime::{PersonAliases, recover_engines, shard_of};

/// Names of a person by which something may be left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesLeft {
    /// Names that were not confirmed.
    pub doubtful: Vec<DoubtfulName>,
    /// Names that were confirmed and that others have too.
    pub shared: Vec<DoubtfulName>,
}

impl Keeper {
    /// Forgets a person, also in what platforms keep of them in the same store. `confirmed` are names of theirs of which
    /// somebody else may be meant. Returns the names that were not confirmed, and those that others have too.
    pub async fn forget_at_rest(
        &self,
        person: PersonId,
        confirmed: &[Box<str>],
        platforms: &[Arc<dyn Platform>],
    ) -> anyhow::Result<NamesLeft> {
        let policies = self.policies();
        let ids = PersonAliases::new(&policies.general().settings.people.same).all(&person);
        self.ask_operator(&ids, confirmed);
        let LookedUp { request, doubtful, shared, .. } = self.look_up(ids, confirmed, platforms).await?;
        let request = Arc::new(request);
        // If this ends before all is deleted, the next start goes on with it.
        let step = JobStep::Delete(Box::new((*request).clone()));
        let mut job = StoredForgetJob::begin(step, &*self.stores.jobs).await?;
        for platform in platforms {
            platform.forget(&request).await?;
        }
        let (journal, at, engines) = self.engines_at_rest().await?;
        let shards = engines.len();
        for (shard, mut engine) in engines.into_iter().enumerate() {
            let found = journal.footprints(shard, shards, request.clone()).await?;
            engine.forget(at, &found.request.recognizer(), &mut Vec::new());
            journal.forget(found, &policies, state(shard, shards, at, &engine)).await?;
        }
        self.forget_in_memory(&request).await?;
        job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
        // Where another program reads the old pages, the job stays for the next start.
        let _ = self.clean_files(job).await?;
        Ok(NamesLeft { doubtful, shared })
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
