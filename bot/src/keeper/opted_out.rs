//! People who opted out: their messages are read as part of the current talk, and stored no longer than that.

use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::PersonId;
use aizuchi_core::{Input, Policies, Time};

use super::Keeper;
use super::jobs::StoredForgetJob;
use crate::journal::Journal;
use crate::ports::{FileCleanup, JobStep};
use crate::stores::StoreError;

/// What became of a wish not to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptOutState {
    Done,
    /// It is written down: what is known, and what is remembered until then, is deleted as soon as memory can be reached.
    Noted,
}

impl Keeper {
    /// From now on they are remembered, or not; what was known of them goes at once, or as soon as memory can be reached.
    pub async fn opt_out(&self, person: &PersonId, out: bool) -> Result<OptOutState, StoreError> {
        if !out {
            // What was promised to them is deleted, unless they really are remembered again. Nothing is deleted meanwhile.
            let remember_again = async {
                let _one = self.forgetting.lock().await;
                self.apply_opt_out(person, false).await?;
                self.call_off_opt_out(person).await
            };
            self.in_time(remember_again).await?;
            return Ok(OptOutState::Done);
        }
        // Whatever fails from here on, or takes too long, is done again.
        let job = StoredForgetJob::begin(JobStep::OptOut(person.clone()), &*self.stores.jobs).await?;
        match self.in_time(self.carry_out_opt_out(job)).await {
            Ok(FileCleanup::Done) => Ok(OptOutState::Done),
            Ok(FileCleanup::StillRead) => {
                self.unfinished.notify_one();
                Ok(OptOutState::Done)
            }
            Err(error) => {
                self.unfinished.notify_one();
                tracing::warn!(%error, "cannot delete what is remembered of somebody who opted out; retrying");
                Ok(OptOutState::Noted)
            }
        }
    }

    pub(super) async fn carry_out_opt_out(&self, mut job: StoredForgetJob) -> Result<FileCleanup, StoreError> {
        if let JobStep::OptOut(person) = &job.step {
            self.apply_opt_out(person, true).await?;
            job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
        }
        self.clean_files(job).await
    }

    async fn apply_opt_out(&self, person: &PersonId, out: bool) -> Result<(), StoreError> {
        self.memory.apply(vec![MemoryChange::OptedOut { person: person.clone(), out }], &self.policies()).await
    }

    /// They want to be remembered again: what was still to be deleted of them stays.
    async fn call_off_opt_out(&self, person: &PersonId) -> Result<(), StoreError> {
        let (jobs, mut after) = (&*self.stores.jobs, 0);
        while let Some((id, step)) = jobs.next(after).await? {
            if matches!(&step, JobStep::OptOut(other) if other == person) {
                jobs.go_on(id, JobStep::RemoveCopies).await?;
            }
            after = id;
        }
        Ok(())
    }

    /// Lets the journal go of what they said, once it has left the talk that the bot reads.
    pub async fn drop_opted_out(&self, journal: &Journal, now: Time, policies: &Policies) {
        match self.drop_words(journal, now, policies).await {
            Ok(0) => (),
            Ok(records) => tracing::info!(records, "removed messages of people who opted out from the journal"),
            Err(error) => {
                tracing::warn!(%error, "cannot remove messages of people who opted out from the journal");
            }
        }
    }

    async fn drop_words(&self, journal: &Journal, now: Time, policies: &Policies) -> Result<usize, StoreError> {
        let out = self.opted_out_people().await?;
        self.let_go(journal, &out, now, policies).await?;
        let dropped = journal.drop_words_of(&out, now, policies).await?;
        if dropped > 0 {
            self.unfinished.notify_one();
        }
        Ok(dropped)
    }

    /// Has rooms that read others' words for longer let go of theirs.
    async fn let_go(
        &self,
        journal: &Journal,
        out: &[PersonId],
        now: Time,
        policies: &Policies,
    ) -> Result<(), StoreError> {
        let Some(engine) = self.engine.get() else { return Ok(()) };
        for (place, id) in journal.still_read_of(out, now, policies).await? {
            engine.submit(Input::LetGo(place, id)).await.map_err(|_| StoreError::Closed)?;
        }
        Ok(())
    }

    /// The people in the journal who opted out.
    async fn opted_out_people(&self) -> Result<Vec<PersonId>, StoreError> {
        opted_out_people(&*self.memory, &*self.stores.index).await
    }
}

/// The people in the journal who opted out. Memory keeps only a hash of each, so it is queried for everybody.
pub async fn opted_out_people(
    memory: &dyn crate::ports::Memory,
    index: &dyn crate::ports::JournalIndex,
) -> Result<Vec<PersonId>, StoreError> {
    let mut people: Vec<PersonId> = index.names().await?.into_iter().map(|(person, _)| person).collect();
    people.sort();
    people.dedup();
    memory.who_opted_out(&people).await
}
