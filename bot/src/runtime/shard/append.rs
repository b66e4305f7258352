//! Appends a batch to the journal, however long the store takes.

use std::time::Duration;

use aizuchi_core::{Input, Time};
use tokio::time::Instant;

use super::super::ShardRequest;
use super::super::batch::Batch;
use super::Shard;
use crate::ports::JournalEntry;
use crate::stores::StoreError;

/// Why a batch could not be appended.
pub(super) enum AppendError {
    /// The store refuses, and there is no time left to wait for it.
    Stopping,
    /// The store is closed.
    Closed,
}

/// How long to wait before retrying a store that refuses.
const STORE_AGAIN: Duration = Duration::from_secs(1);

impl Shard {
    /// Nothing leaves before it is durable: a store that refuses makes everybody wait, until the program has to end.
    /// Returns the inputs to handle.
    pub(super) async fn append(&mut self, mut batch: Batch) -> Result<Vec<(Time, Input)>, AppendError> {
        let started = Instant::now();
        let appended = loop {
            match self.journal.append(self.number, &batch.entries).await {
                Ok(appended) => break appended,
                Err(StoreError::Closed) => return Err(AppendError::Closed),
                Err(error) => {
                    self.refused = true;
                    tracing::error!(%error, "cannot write to the journal; retrying");
                    batch.refuse_stored(&error);
                    if batch.entries.is_empty() {
                        // An input without any content, so that there is something to retry with.
                        batch.entries.push(JournalEntry::Input(self.now(), Input::Tick));
                    }
                    self.context.ready.send_replace(false);
                    if self.stop.is_cancelled() && Instant::now() >= self.ends_by() {
                        return Err(AppendError::Stopping);
                    }
                    self.wait_for_store(&error).await;
                }
            }
        };
        self.seq = appended.seq;
        self.context.ready.send_if_modified(|ready| !std::mem::replace(ready, true));
        if std::mem::take(&mut self.refused) {
            self.context.clock.note_return();
        }
        let inputs = batch.into_inputs(appended.stored);
        self.saver.count(inputs.len());
        metrics::counter!("aizuchi_inputs_total").increment(inputs.len() as u64);
        metrics::histogram!("aizuchi_journal_seconds").record(started.elapsed().as_secs_f64());
        Ok(inputs)
    }

    /// Waits before the next attempt. Callers that want to store data of their own meanwhile get an error.
    async fn wait_for_store(&mut self, error: &StoreError) {
        let again = tokio::time::sleep(STORE_AGAIN);
        tokio::pin!(again);
        loop {
            let may_take = self.queue.len() < self.inbox.max_capacity();
            tokio::select! {
                () = &mut again => return,
                Some(heard) = self.inbox.recv(), if may_take => match heard {
                    ShardRequest::Store(storing) => drop(storing.done.send(Err(error.clone()))),
                    other @ (ShardRequest::Input(..) | ShardRequest::Pay(..) | ShardRequest::Look(..) | ShardRequest::Close(..) | ShardRequest::Forget(_)) => self.line_up(other),
                },
            }
        }
    }
}
