//! People who opted out: their messages are read as part of the current talk, and stored no longer than that. What is
//! remembered of them goes by the same names as with `/forget-me`.

use std::sync::Arc;

use aizuchi_core::memory::words::DoubtfulName;
use aizuchi_core::memory::{ForgetRequest, MemoryChange};
use aizuchi_core::types::PersonId;
use aizuchi_core::{Input, Policies, Time};

use super::Keeper;
use super::forget::{OpenQuestion, facts_by_shared};
use super::jobs::StoredForgetJob;
use crate::journal::Journal;
use crate::ports::{FileCleanup, JobStep, Platform};
use crate::runtime::PersonAliases;
use crate::stores::StoreError;

/// What became of a wish not to be remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptOutState {
    Done,
    /// It is written down: what is known, and what is remembered until then, is deleted as soon as memory can be reached.
    Noted,
}

/// The result of a wish not to be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptOutResult {
    pub state: OptOutState,
    /// Names that may be something else: what is remembered by these names is left until they say so.
    pub doubtful: Vec<DoubtfulName>,
}

impl Keeper {
    /// From now on they are remembered again.
    pub async fn opt_in(&self, person: &PersonId) -> Result<(), StoreError> {
        // What was promised to them is deleted, unless they really are remembered again. Nothing is deleted meanwhile.
        let remember_again = async {
            let _one = self.forgetting.lock().await;
            let back = MemoryChange::OptedOut { person: person.clone(), out: false };
            self.memory.apply(vec![back], &self.policies()).await?;
            self.call_off_opt_out(person).await
        };
        self.in_time(remember_again).await
    }

    /// From now on they are not remembered; what was known of them goes at once, or as soon as memory can be reached.
    pub async fn opt_out(
        &self,
        person: &PersonId,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<OptOutResult, StoreError> {
        // Whatever fails from here on, or takes too long, is done again.
        let job = StoredForgetJob::begin(JobStep::OptOut(person.clone()), &*self.stores.jobs).await?;
        match self.in_time(self.carry_out_opt_out(job, platforms)).await {
            Ok((FileCleanup::Done, doubtful)) => Ok(OptOutResult { state: OptOutState::Done, doubtful }),
            Ok((FileCleanup::StillRead, doubtful)) => {
                self.unfinished.notify_one();
                Ok(OptOutResult { state: OptOutState::Done, doubtful })
            }
            Err(error) => {
                self.unfinished.notify_one();
                tracing::warn!(%error, "cannot delete what is remembered of somebody who opted out; retrying");
                Ok(OptOutResult { state: OptOutState::Noted, doubtful: Vec::new() })
            }
        }
    }

    pub(super) async fn carry_out_opt_out(
        &self,
        mut job: StoredForgetJob,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(FileCleanup, Vec<DoubtfulName>), StoreError> {
        let mut doubtful = Vec::new();
        if let JobStep::OptOut(person) = &job.step {
            doubtful = self.forget_opted_out(person, platforms).await?;
            job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
        }
        Ok((self.clean_files(job).await?, doubtful))
    }

    /// Returns the names by which something is left.
    async fn forget_opted_out(
        &self,
        person: &PersonId,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<DoubtfulName>, StoreError> {
        let out = MemoryChange::OptedOut { person: person.clone(), out: true };
        let (request, question) = match self.look_up_opted_out(person, platforms).await {
            Ok(found) => found,
            // Nothing more is remembered of them, whatever is still to be deleted.
            Err(error) => {
                self.memory.apply(vec![out], &self.policies()).await?;
                return Err(error);
            }
        };
        let (person, names) = (person.clone(), request.person_names());
        let forgotten = MemoryChange::PersonForgotten { person, names, rooms: Vec::new() };
        self.memory.apply(vec![forgotten, out], &self.policies()).await?;
        let doubtful = question.names.clone();
        self.ask_about(question);
        Ok(doubtful)
    }

    async fn look_up_opted_out(
        &self,
        person: &PersonId,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(ForgetRequest, OpenQuestion), StoreError> {
        let ids = PersonAliases::new(&self.policies().general().settings.people.same).all(person);
        let remembered = self.remembered().await?;
        let known = self.known_as(&ids, &remembered, platforms).await?;
        let (homes, rooms) = (known.scope.all_homes(), known.scope.rooms);
        let request =
            ForgetRequest { ids: ids.clone(), names: known.candidates.certain, rooms, ..ForgetRequest::default() };
        let doubtful = self.names_remembered(&request, known.candidates.doubtful, &remembered).await?;
        let facts = facts_by_shared(&ids, &doubtful, &remembered);
        Ok((request, OpenQuestion::new(ids, &doubtful, homes, facts)))
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
