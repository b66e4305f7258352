//! People who opted out: their messages are read as part of the current talk, and stored no longer than that.

use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::{PersonId, Span};
use aizuchi_core::{Policies, Time};

use super::Keeper;
use super::jobs::StoredForgetJob;
use crate::journal::Journal;
use crate::ports::JobStep;
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
            self.call_off_opt_out(person).await?;
        }
        let Err(error) = self.in_time(self.apply_opt_out(person, out)).await else {
            if out {
                self.settle().await?;
            }
            return Ok(OptOutState::Done);
        };
        // Whether it was noted before memory took too long does not matter: the job does all of it again.
        if !out || !matches!(error, StoreError::Unavailable(_)) {
            return Err(error);
        }
        StoredForgetJob::begin(JobStep::OptOut(person.clone()), &*self.stores.jobs).await?;
        self.unfinished.notify_one();
        tracing::warn!(%error, "cannot delete what is remembered of somebody who opted out; retrying");
        Ok(OptOutState::Noted)
    }

    pub(super) async fn apply_opt_out(&self, person: &PersonId, out: bool) -> Result<(), StoreError> {
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
        let before = now - Span::minutes(policies.general().settings.listen.buffer_minutes.into());
        let dropped = journal.drop_words_of(&out, before, policies).await?;
        if dropped > 0 {
            self.unfinished.notify_one();
        }
        Ok(dropped)
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
    let mut out = Vec::new();
    for person in people {
        if memory.people(Some(&person)).await?.iter().any(|known| known.opted_out) {
            out.push(person);
        }
    }
    Ok(out)
}
