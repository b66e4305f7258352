//! Carries out what is written down about people who are to be forgotten, also after a crash and while memory is away.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::{Filter, ForgetRequest, MemoryChange};
use aizuchi_core::types::PersonId;
use tokio_util::sync::CancellationToken;

use super::Keeper;
use super::forget::ForgetError;
use super::jobs::{self, StoredForgetJob};
use crate::ports::{JobStep, Platform};
use crate::runtime::EngineHandle;
use crate::stores::{FileCleanup, StoreError};

/// The delay between attempts to complete a job that failed.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
const AGAIN_MAX: Duration = Duration::from_secs(60);
/// How often it is checked whether a job waits.
const LOOKS_EVERY: Duration = Duration::from_secs(30);

impl Keeper {
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
                    // Another process may have begun one.
                    () = tokio::time::sleep(LOOKS_EVERY) => continue,
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
        let (mut after, mut seen, mut all_ended) = (0, 0, Ok(true));
        loop {
            let _one = self.forgetting.lock().await;
            seen = self.delete_all_here(seen, engine, platforms).await?;
            let Some((id, step)) = self.stores.jobs.next(after).await? else { return all_ended };
            let job = StoredForgetJob { id, step };
            after = id;
            if matches!(job.step, JobStep::DeleteHere(_) | JobStep::LookUp(_) | JobStep::Delete(_)) {
                tracing::info!("resuming an interrupted forget request");
            }
            match self.carry_out(job, engine, platforms).await {
                Ok(FileCleanup::Done) => tracing::info!("forgot a person"),
                Ok(FileCleanup::StillRead) => all_ended = all_ended.map(|_| false),
                // Others must not wait for one that cannot end yet.
                Err(error) => all_ended = Err(error),
            }
        }
    }

    /// What is here goes at once, of everybody after job `seen` who waits until memory can be reached. Returns the last job.
    async fn delete_all_here(
        &self,
        mut seen: i64,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<i64, ForgetError> {
        let jobs = &*self.stores.jobs;
        while let Some((id, step)) = jobs.next(seen).await? {
            seen = id;
            let JobStep::DeleteHere(known) = step else { continue };
            // Others must not wait for one that cannot be deleted yet: its own turn comes, and says why.
            if self.delete_known(&known, engine, platforms).await.is_ok() {
                jobs.go_on(id, JobStep::LookUp(known)).await?;
            }
        }
        Ok(seen)
    }

    pub(super) async fn carry_out(
        &self,
        mut job: StoredForgetJob,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<FileCleanup, ForgetError> {
        loop {
            match &job.step {
                JobStep::DeleteHere(known) => {
                    self.delete_known(known, engine, platforms).await?;
                    job.go_on_with(JobStep::LookUp(known.clone()), &*self.stores.jobs).await?;
                }
                JobStep::LookUp(known) => {
                    self.delete_remembered(known, engine, platforms).await?;
                    job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
                }
                JobStep::OptOut(_) => return Ok(self.carry_out_opt_out(job, platforms).await?.0),
                JobStep::Delete(request) => {
                    self.delete(Arc::new((**request).clone()), engine, platforms).await?;
                    job.go_on_with(JobStep::RemoveCopies, &*self.stores.jobs).await?;
                }
                JobStep::RemoveCopies | JobStep::Settle => return Ok(self.clean_files(job).await?),
            }
        }
    }

    /// The last steps of a job, which no longer says who it was.
    pub(super) async fn clean_files(&self, mut job: StoredForgetJob) -> Result<FileCleanup, StoreError> {
        if matches!(job.step, JobStep::RemoveCopies) {
            self.stores.files.remove_copies().await?;
            self.memory.remove_copies().await?;
            job.go_on_with(JobStep::Settle, &*self.stores.jobs).await?;
        }
        let settled = self.settle_files().await?;
        if settled == FileCleanup::Done {
            self.stores.jobs.end(job.id).await?;
        }
        Ok(settled)
    }

    async fn delete(
        &self,
        request: Arc<ForgetRequest>,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(), ForgetError> {
        // A room of a cluster that cannot go on keeps nothing else from being forgotten.
        let here = self.delete_here(&request, engine, platforms).await;
        self.forget_in_memory(&request).await?;
        here
    }

    /// What is known here without memory, which may be away for long: so the words leave the files as well.
    async fn delete_known(
        &self,
        known: &ForgetRequest,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(), ForgetError> {
        self.delete_here(&Arc::new(known.clone()), engine, platforms).await?;
        self.stores.files.remove_copies().await?;
        // What a reader keeps in the files now leaves them at the end of the job.
        let _ = self.stores.files.settle().await?;
        Ok(())
    }

    /// What was known here was deleted when they asked. Now memory goes, and what the bot said by names that only memory knew;
    /// what they have said since is theirs to keep.
    async fn delete_remembered(
        &self,
        known: &ForgetRequest,
        engine: &EngineHandle,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(), ForgetError> {
        let mut request = self.look_up(known.ids.clone(), &[], platforms).await?.request;
        let names: Vec<Box<str>> = request.names.iter().filter(|name| !known.names.contains(name)).cloned().collect();
        if !names.is_empty() {
            let rooms = request.rooms.clone();
            self.delete_here(&Arc::new(ForgetRequest { names, rooms, ..ForgetRequest::default() }), engine, platforms)
                .await?;
        }
        add_known(&mut request, known);
        self.forget_in_memory(&request).await
    }

    pub(super) async fn forget_in_memory(&self, request: &ForgetRequest) -> Result<(), ForgetError> {
        let forgotten = |person: &PersonId| {
            let (person, names, rooms) = (person.clone(), request.person_names(), request.rooms.clone());
            MemoryChange::PersonForgotten { person, names, rooms }
        };
        let mut changes = self.facts_by_shared_names(request).await?;
        changes.extend(request.ids.iter().map(forgotten));
        Ok(self.memory.apply(changes, &self.policies()).await?)
    }

    /// Deletes what is said by names that others have too, where the person took part.
    async fn facts_by_shared_names(&self, request: &ForgetRequest) -> Result<Vec<MemoryChange>, StoreError> {
        if request.shared_names.is_empty() {
            return Ok(Vec::new());
        }
        let facts = self.memory.facts(Filter::default()).await?;
        let theirs = facts.iter().filter(|fact| request.has_shared_name(fact));
        Ok(theirs.map(|fact| MemoryChange::Forgotten { fact: fact.id }).collect())
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

    /// The files of the main store, and those that memory has beside it.
    async fn settle_files(&self) -> Result<FileCleanup, StoreError> {
        let (main, memory) = (self.stores.files.settle().await?, self.memory.settle().await?);
        Ok(if main == FileCleanup::Done { memory } else { main })
    }

    /// Removes deleted data from the files, now or as soon as nobody reads it any more.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        if self.settle_files().await? == FileCleanup::StillRead {
            jobs::settle_later(&*self.stores.jobs).await?;
            self.unfinished.notify_one();
        }
        Ok(())
    }
}

/// Names and rooms that were known before memory could be asked.
fn add_known(request: &mut ForgetRequest, known: &ForgetRequest) {
    request.names.extend(known.names.iter().cloned());
    request.names.sort();
    request.names.dedup();
    request.confirmed_names.extend(known.confirmed_names.iter().cloned());
    request.homes.extend(known.homes.iter().cloned());
    request.shared_names.extend(known.shared_names.iter().cloned());
    request.shared_facts.extend(known.shared_facts.iter().copied());
    request.rooms.extend(known.rooms.iter().cloned());
    request.rooms.sort();
    request.rooms.dedup();
}
