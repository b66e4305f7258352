//! What is stored beside the loop: decisions, and periodically the state of the engine.

use std::sync::Arc;

use aizuchi_core::Trace;
use tokio::task::{JoinHandle, JoinSet};

use crate::journal::{Journal, ShardState};
use crate::stores::StoreError;

type Decisions = Arc<[Trace]>;

pub struct Saver {
    journal: Journal,
    shard: usize,
    /// Records since the last snapshot.
    unsaved: u64,
    /// Decisions that are being stored; a failed task returns them.
    keeping: JoinSet<Result<(), Decisions>>,
    unkept: Vec<Decisions>,
    /// A snapshot that is being stored, and how many records a start can skip because of it.
    saving: Option<(JoinHandle<Result<(), SaveError>>, u64)>,
}

/// Why a snapshot was not stored, and the decisions that could not be stored before it.
struct SaveError {
    error: StoreError,
    unkept: Vec<Decisions>,
}

impl Saver {
    pub fn new(journal: Journal, shard: usize) -> Saver {
        Saver { journal, shard, unsaved: 0, keeping: JoinSet::new(), unkept: Vec::new(), saving: None }
    }

    /// This many records were appended to the journal.
    pub fn count(&mut self, records: usize) {
        self.unsaved += records as u64;
    }

    pub fn unsaved(&self) -> u64 {
        self.unsaved
    }

    /// The state was stored by other means.
    pub fn is_saved(&mut self) {
        self.unsaved = 0;
    }

    /// Stores decisions with one of the next commits. Nothing waits for this; after a crash they are computed again.
    pub fn keep(&mut self, decided: Vec<Trace>) {
        if !decided.is_empty() {
            let (journal, decided) = (self.journal.clone(), Decisions::from(decided));
            self.keeping.spawn(async move {
                let kept = journal.keep(decided.clone()).await;
                kept.map_err(|error| {
                    tracing::warn!(%error, "cannot store a decision; retrying");
                    decided
                })
            });
        }
        while let Some(kept) = self.keeping.try_join_next() {
            self.unkept.extend(kept.expect("keeping does not panic").err());
        }
    }

    /// Waits until all decisions are stored. A snapshot that is being stored finishes first, because it must not come after
    /// what follows.
    pub async fn keep_all(&mut self) -> Result<(), StoreError> {
        self.end_snapshot().await;
        keep_all(&self.journal, &mut self.keeping, &mut self.unkept).await
    }

    /// Stores the state and waits until that is done.
    pub async fn save(&mut self, state: impl FnOnce() -> ShardState) {
        // A start does not recompute decisions from before a snapshot.
        if let Err(error) = self.keep_all().await {
            return tracing::warn!(%error, "cannot store decisions; the journal has them");
        }
        let saved = match self.unsaved {
            0 => self.journal.renew_snapshot(self.shard).await,
            _ => self.journal.take_snapshot(state()).await,
        };
        match saved {
            Ok(()) => self.unsaved = 0,
            Err(error) => tracing::warn!(%error, "cannot write a snapshot; the journal has everything"),
        }
    }

    /// Stores the state while the loop goes on, since it may be large. One at a time. The state says after which record it
    /// was taken, since others may follow meanwhile.
    pub async fn begin_save(&mut self, state: impl FnOnce() -> ShardState) {
        if self.saving.as_ref().is_some_and(|(task, _)| !task.is_finished()) {
            return;
        }
        self.end_snapshot().await;
        if self.unsaved == 0 {
            return self.save(state).await;
        }
        let (journal, state) = (self.journal.clone(), state());
        let (mut keeping, mut unkept) = (std::mem::take(&mut self.keeping), std::mem::take(&mut self.unkept));
        let task = tokio::spawn(async move {
            let saved = match keep_all(&journal, &mut keeping, &mut unkept).await {
                Ok(()) => journal.take_snapshot(state).await,
                Err(error) => Err(error),
            };
            saved.map_err(|error| SaveError { error, unkept })
        });
        self.saving = Some((task, std::mem::take(&mut self.unsaved)));
    }

    async fn end_snapshot(&mut self) {
        let Some((task, records)) = self.saving.take() else { return };
        if let Err(SaveError { error, mut unkept }) = task.await.expect("saving does not panic") {
            tracing::warn!(%error, "cannot write a snapshot; the journal has everything");
            self.unsaved += records;
            unkept.append(&mut self.unkept);
            self.unkept = unkept;
        }
    }
}

/// Waits for the decisions that are being stored, and then stores the ones that failed before.
async fn keep_all(
    journal: &Journal,
    keeping: &mut JoinSet<Result<(), Decisions>>,
    unkept: &mut Vec<Decisions>,
) -> Result<(), StoreError> {
    while let Some(kept) = keeping.join_next().await {
        unkept.extend(kept.expect("keeping does not panic").err());
    }
    while let Some(decided) = unkept.first() {
        journal.keep(decided.clone()).await?;
        unkept.remove(0);
    }
    Ok(())
}
