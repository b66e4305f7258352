//! Forgets a person everywhere: a job that is stored first and completes whatever happens.
//!
//! 1. What is stored of the person is looked up: their names, rooms, words, and the answers to them.
//! 2. That is stored durably as a job. Before this nothing has happened; afterwards the job will complete, even after a
//!    crash.
//! 3. Platforms delete their data first, so that nothing of the person is heard again; then engines and journal, then
//!    memory.
//! 4. Everything that identifies the person is removed from the job, and copies of deleted data leave the file.
//! 5. The old pages leave the log beside it, which a reader can delay; then the job itself is deleted.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::words::{NameCandidates, NameFinder, normal};
use aizuchi_core::memory::{Filter, ForgetRequest, MemoryChange};
use aizuchi_core::types::PersonId;
use tokio_util::sync::CancellationToken;

use super::Keeper;
use super::jobs::{self, StoredForgetJob};
use crate::journal::{Journal, PersonTrail};
use crate::ports::{JobStep, Platform};
use crate::runtime::{EngineHandle, ShuttingDown, StoringError};
use crate::stores::{FileCleanup, StoreError};

/// Why a person was not forgotten. Nothing was begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForgetError {
    #[error("aizuchi is stopping")]
    Gone,
    #[error("{0}")]
    Store(#[from] StoreError),
    /// This is not a known name of the person.
    #[error("{0} is not a known name of the person who asks")]
    NotTheirName(Box<str>),
}

impl From<StoringError> for ForgetError {
    fn from(error: StoringError) -> ForgetError {
        match error {
            StoringError::Gone(gone) => gone.into(),
            StoringError::Store(error) => error.into(),
        }
    }
}

impl From<ShuttingDown> for ForgetError {
    fn from(_: ShuttingDown) -> ForgetError {
        ForgetError::Gone
    }
}

/// The result of a request to be forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetResult {
    pub state: ForgetState,
    /// Names that may be another person's, and whose: what the bot said using these names stays until the person confirms
    /// them.
    pub doubtful: Vec<(Box<str>, Option<Box<str>>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForgetState {
    Done,
    /// Everything is deleted; old pages leave the files once nobody reads them any more.
    StillRead,
    /// The job is stored, and continues in the background.
    Interrupted,
}

/// How long a person may confirm that a name is theirs.
const CONFIRMS_WITHIN: Duration = Duration::from_secs(3600);
const CONFIRMING_MAX: usize = 1_000;
/// The delay between attempts to complete a job that failed.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(60);

/// Names that a person was asked about.
pub(super) struct OpenQuestion {
    ids: Vec<PersonId>,
    names: Vec<Box<str>>,
    at: tokio::time::Instant,
}

impl Keeper {
    /// Forgets a person. `confirmed` are names that they confirmed as theirs, even if other people may use them too.
    pub async fn forget(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<ForgetResult, ForgetError> {
        let _one = self.forgetting.lock().await;
        let (request, doubtful) = self.look_up(ids, confirmed, platforms).await?;
        let ids = request.ids.clone();
        let job = StoredForgetJob::begin(JobStep::Delete(Box::new(request)), &*self.stores.jobs).await?;
        let state = match self.carry_out(job, engine, platforms).await {
            Ok(FileCleanup::Done) => ForgetState::Done,
            Ok(FileCleanup::StillRead) => ForgetState::StillRead,
            Err(error) => {
                tracing::warn!(%error, "forgetting a person was interrupted; retrying");
                ForgetState::Interrupted
            }
        };
        if state != ForgetState::Done {
            self.unfinished.notify_one();
        }
        self.ask_about(ids, &doubtful);
        Ok(ForgetResult { state, doubtful })
    }

    /// Completes jobs that a crash interrupted or that failed, until shutdown.
    pub async fn end_forgetting(
        self: Arc<Self>,
        engine: EngineHandle,
        platforms: Vec<Arc<dyn Platform>>,
        stop: CancellationToken,
    ) {
        let mut pause = AGAIN_FIRST;
        loop {
            let all_ended = match self.end_jobs(&engine, &platforms).await {
                Ok(all_ended) => all_ended,
                Err(error) => {
                    tracing::warn!(%error, ?pause, "cannot finish forgetting yet; retrying");
                    false
                }
            };
            if all_ended {
                pause = AGAIN_FIRST;
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = self.unfinished.notified() => (),
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(AGAIN_MAX),
            }
        }
    }

    /// Whether all jobs are complete.
    async fn end_jobs(&self, engine: &EngineHandle, platforms: &[Arc<dyn Platform>]) -> Result<bool, ForgetError> {
        let (mut after, mut all_ended) = (0, true);
        loop {
            let _one = self.forgetting.lock().await;
            let Some((id, step)) = self.stores.jobs.next(after).await? else { return Ok(all_ended) };
            let job = StoredForgetJob { id, step };
            after = id;
            if matches!(job.step, JobStep::Delete(_)) {
                tracing::info!("resuming an interrupted forget request");
            }
            match self.carry_out(job, engine, platforms).await? {
                FileCleanup::Done => tracing::info!("forgot a person"),
                FileCleanup::StillRead => all_ended = false,
            }
        }
    }

    async fn carry_out(
        &self,
        mut job: StoredForgetJob,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<FileCleanup, ForgetError> {
        loop {
            match &job.step {
                JobStep::Delete(request) => {
                    self.delete(Arc::new((**request).clone()), engine, platforms).await?;
                    job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
                }
                JobStep::RemoveCopies => {
                    self.stores.files.remove_copies().await?;
                    job.go_on_with(JobStep::Settle, &*self.stores.jobs).await?;
                }
                JobStep::Settle => {
                    let settled = self.stores.files.settle().await?;
                    if settled == FileCleanup::Done {
                        self.stores.jobs.end(job.id).await?;
                    }
                    return Ok(settled);
                }
            }
        }
    }

    async fn delete(
        &self,
        request: Arc<ForgetRequest>,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(), ForgetError> {
        for platform in platforms {
            platform.forget(&request).await?;
        }
        // Nothing about the person is counted while their records are being deleted.
        let _counted = self.counted.lock().await;
        engine.forget(&request).await?;
        let ForgetRequest { ids, names, rooms, .. } = &*request;
        let forgotten = |person: &PersonId| {
            let (person, names, rooms) = (person.clone(), names.clone(), rooms.clone());
            MemoryChange::PersonForgotten { person, names, rooms }
        };
        self.memory.apply(ids.iter().map(forgotten).collect(), &self.policies()).await?;
        Ok(())
    }

    /// What is stored of the person, and which of their names may be another person's.
    pub(super) async fn look_up(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(ForgetRequest, Vec<(Box<str>, Option<Box<str>>)>), ForgetError> {
        let journal = Journal::new(self.stores.clone());
        let PersonTrail { names, mut rooms, answers, phrases, others, .. } = journal.trail(&ids, platforms).await?;
        let people = self.memory.people(None).await?;
        let theirs = people.iter().filter(|person| ids.contains(&person.id));
        rooms.extend(theirs.flat_map(|person| person.rooms.clone()));
        let NameCandidates { certain: mut names, mut doubtful } = self.called(&ids, names, others, &people);
        for name in confirmed {
            let same = |form: &str| normal(form).trim() == normal(name).trim();
            let known = names.iter().chain(doubtful.iter().map(|(form, _)| form)).any(|form| same(form));
            if !known && !self.was_asked_about(&ids, &same) {
                return Err(ForgetError::NotTheirName(name.clone()));
            }
            doubtful.retain(|(form, _)| !same(form));
            names.push(name.clone());
        }
        let used = self.names_in_use(doubtful.iter().map(|(form, _)| form.clone()).collect(), platforms).await?;
        doubtful.retain(|(form, _)| used.contains(form));
        let (rooms, answers) = (rooms.into_iter().collect(), answers.into_iter().collect());
        Ok((ForgetRequest { ids, names, rooms, answers, phrases }, doubtful))
    }

    /// Which of the names the bot used for a person, or remembers something under.
    async fn names_in_use(
        &self,
        names: Vec<Box<str>>,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<Box<str>>, StoreError> {
        if names.is_empty() {
            return Ok(names);
        }
        let mut used = Journal::new(self.stores.clone()).names_it_used(names.clone(), platforms).await?;
        let facts = self.memory.facts(Filter { count: usize::MAX >> 1, ..Filter::default() }).await?;
        for name in names.into_iter().filter(|name| !used.contains(name)).collect::<Vec<_>>() {
            let looked = NameFinder::new([&name]);
            if facts.iter().any(|fact| looked.are_in(&fact.content)) {
                used.push(name);
            }
        }
        Ok(used)
    }

    /// Remembers what a person was asked, for a limited time and only in RAM.
    fn ask_about(&self, ids: Vec<PersonId>, doubtful: &[(Box<str>, Option<Box<str>>)]) {
        let mut asked = self.asked();
        asked.retain(|asked| asked.at.elapsed() < CONFIRMS_WITHIN);
        if doubtful.is_empty() {
            return;
        }
        asked.retain(|asked| asked.ids != ids);
        if asked.len() == CONFIRMING_MAX {
            asked.remove(0);
        }
        let names = doubtful.iter().map(|(name, _)| name.clone()).collect();
        asked.push(OpenQuestion { ids, names, at: tokio::time::Instant::now() });
    }

    fn was_asked_about(&self, ids: &[PersonId], same: &dyn Fn(&str) -> bool) -> bool {
        let asked = self.asked();
        let recent = asked.iter().filter(|asked| asked.ids == ids && asked.at.elapsed() < CONFIRMS_WITHIN);
        recent.flat_map(|asked| &asked.names).any(|name| same(name))
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Vec<OpenQuestion>> {
        self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Removes deleted data from the files, now or as soon as nobody reads it any more.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if self.stores.files.settle().await? == FileCleanup::StillRead {
            jobs::settle_later(&*self.stores.jobs).await?;
            self.unfinished.notify_one();
        }
        Ok(())
    }

    /// Opts a person out, or in again; what was known of a person who opts out is deleted at once.
    pub async fn opt_out(&self, person: &PersonId, out: bool) -> Result<(), StoreError> {
        self.memory.apply(vec![MemoryChange::OptedOut { person: person.clone(), out }], &self.policies()).await?;
        if out { self.settle().await } else { Ok(()) }
    }
}
