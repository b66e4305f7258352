//! Forgets a person everywhere: a job that is stored first and completes whatever happens.
//!
//! 1. What is kept of them is looked up: their names, rooms, words, and the answers to them.
//! 2. That is written down, durably, as a job. Before this nothing has happened; after it the job ends, also after a crash. Where
//!    memory cannot be reached, what the journal knows is written down, and memory is asked again until it answers.
//! 3. Platforms let go of them first, so that nothing of them is heard again; then engines and journal, then memory.
//! 4. The job loses everything that says who it was, and copies of what was deleted leave the file.
//! 5. The old pages leave the log beside it, which a reader can delay; then the job itself goes.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::words::{NameCandidates, NameFinder, normal};
use aizuchi_core::memory::{Filter, ForgetRequest, MemoryChange, Person};
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
    /// Names that may be somebody else's, with whose: what the bot said by these names is left until they say so.
    pub doubtful: DoubtfulNames,
}

/// Names, each with who else may be meant.
type DoubtfulNames = Vec<(Box<str>, Option<Box<str>>)>;

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
        let trail = Journal::new(self.stores.clone()).trail(&ids, platforms).await?;
        let people = self.in_time(self.memory.people(None)).await;
        let known = people.as_deref().unwrap_or_default();
        let (request, mut doubtful) = self.request(ids, confirmed, trail, known)?;
        let ids = request.ids.clone();
        let done = match people {
            Ok(_) => {
                // Names that nobody used need no question; without memory nobody can tell.
                doubtful = match self.in_time(self.in_use(doubtful.clone(), platforms)).await {
                    Ok(used) => used,
                    Err(_) => doubtful,
                };
                let job = StoredForgetJob::begin(JobStep::Delete(Box::new(request)), &*self.stores.jobs).await?;
                self.in_time_to_forget(self.carry_out(job, engine, platforms)).await
            }
            Err(error) => {
                StoredForgetJob::begin(JobStep::LookUp(Box::new(request.clone())), &*self.stores.jobs).await?;
                // What is here goes at once.
                self.delete_here(&Arc::new(request), engine, platforms).await.and(Err(error.into()))
            }
        };
        let state = match done {
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
            if matches!(job.step, JobStep::LookUp(_) | JobStep::Delete(_)) {
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
                JobStep::LookUp(known) => {
                    let (mut request, _) = self.look_up(known.ids.clone(), &[], platforms).await?;
                    add_known(&mut request, known);
                    job.go_on_with(JobStep::Delete(Box::new(request)), &*self.stores.jobs).await?;
                }
                JobStep::OptOut(person) => {
                    self.apply_opt_out(person, true).await?;
                    job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
                }
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
        self.delete_here(&request, engine, platforms).await?;
        let ForgetRequest { ids, names, rooms, .. } = &*request;
        let forgotten = |person: &PersonId| {
            let (person, names, rooms) = (person.clone(), names.clone(), rooms.clone());
            MemoryChange::PersonForgotten { person, names, rooms }
        };
        self.memory.apply(ids.iter().map(forgotten).collect(), &self.policies()).await?;
        Ok(())
    }

    /// On the platforms, in the engines and in the journal.
    async fn delete_here(
        &self,
        request: &Arc<ForgetRequest>,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(), ForgetError> {
        for platform in platforms {
            platform.forget(request).await?;
        }
        // Nothing is counted of them while their records go.
        let _counted = self.counted.lock().await;
        engine.forget(request).await?;
        Ok(())
    }

    /// What is kept of them, and which of their names may be somebody else's.
    pub(super) async fn look_up(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(ForgetRequest, DoubtfulNames), ForgetError> {
        let trail = Journal::new(self.stores.clone()).trail(&ids, platforms).await?;
        let people = self.memory.people(None).await?;
        let (request, doubtful) = self.request(ids, confirmed, trail, &people)?;
        Ok((request, self.in_use(doubtful, platforms).await?))
    }

    /// The same, of what the journal and memory know.
    fn request(
        &self,
        ids: Vec<PersonId>,
        confirmed: &[Box<str>],
        trail: PersonTrail,
        people: &[Person],
    ) -> Result<(ForgetRequest, DoubtfulNames), ForgetError> {
        let PersonTrail { names, mut rooms, answers, phrases, others, .. } = trail;
        let theirs = people.iter().filter(|person| ids.contains(&person.id));
        rooms.extend(theirs.flat_map(|person| person.rooms.clone()));
        let NameCandidates { certain: mut names, mut doubtful } = self.called(&ids, names, others, people);
        for name in confirmed {
            let same = |form: &str| normal(form).trim() == normal(name).trim();
            let known = names.iter().chain(doubtful.iter().map(|(form, _)| form)).any(|form| same(form));
            if !known && !self.was_asked_about(&ids, &same) {
                return Err(ForgetError::NotTheirName(name.clone()));
            }
            doubtful.retain(|(form, _)| !same(form));
            names.push(name.clone());
        }
        let (rooms, answers) = (rooms.into_iter().collect(), answers.into_iter().collect());
        Ok((ForgetRequest { ids, names, rooms, answers, phrases }, doubtful))
    }

    async fn in_use(
        &self,
        mut doubtful: DoubtfulNames,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<DoubtfulNames, StoreError> {
        let used = self.names_in_use(doubtful.iter().map(|(form, _)| form.clone()).collect(), platforms).await?;
        doubtful.retain(|(form, _)| used.contains(form));
        Ok(doubtful)
    }

    /// Those of the names by which the bot spoke of somebody, or remembers something.
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

    async fn in_time_to_forget<T>(&self, work: impl Future<Output = Result<T, ForgetError>>) -> Result<T, ForgetError> {
        match self.memory.wait_limit() {
            None => work.await,
            Some(limit) => limit.within(work).await?,
        }
    }
}

/// What was known before memory could be asked.
fn add_known(request: &mut ForgetRequest, known: &ForgetRequest) {
    request.names.extend(known.names.iter().cloned());
    request.names.sort();
    request.names.dedup();
    request.rooms.extend(known.rooms.iter().cloned());
    request.rooms.sort();
    request.rooms.dedup();
    request.answers.extend(known.answers.iter().cloned());
    request.answers.sort();
    request.answers.dedup();
    // The journal may have nothing of them any more.
    request.phrases.add_all(&known.phrases);
}
