//! Reads on in the journal: counts people and their answers, and lets go of what rests on a deleted message.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::{Span, Visibility, Voice};
use aizuchi_core::{Input, Message, Policies, Time};

use tokio_util::sync::CancellationToken;

use super::Keeper;
use super::lines::RecordedMessage;
use crate::journal::Records;
use crate::journal::read::look_up;
use crate::ports::{JournalStore, Position, Record, Selection, Stores};
use crate::runtime::{EngineHandle, RetentionClock};
use crate::stores::StoreError;

/// How often it looks whether there is something to read.
const READS_EVERY: Duration = Duration::from_secs(1);
/// How often facts are given a meaning: after so many looks.
const MEANING_EVERY: u32 = 5;
/// How often it is checked whether another process has taken in what it should, and how often at most.
const LOOKS_AGAIN: Duration = Duration::from_millis(100);
const OTHERS_WAITED: u32 = 30;
const FADES_EVERY: Span = Span::minutes(60);
/// Changes made together at most.
const TOGETHER: usize = 64;

impl Keeper {
    /// Takes in everything that is durable by now. Returns how many records that were.
    pub async fn catch_up(&self) -> Result<usize, StoreError> {
        if !self.counts.load(std::sync::atomic::Ordering::SeqCst) {
            self.wait_for_others().await?;
            return Ok(0);
        }
        let policies = self.policies();
        let mut taken = 0;
        loop {
            match self.take_some(&policies).await? {
                0 => {
                    self.take_links(&policies).await?;
                    return Ok(taken);
                }
                some => taken += some,
            }
        }
    }

    /// Until the task that reads the journal has processed what is durable by now, or seems to have stopped.
    async fn wait_for_others(&self) -> Result<(), StoreError> {
        let last = self.stores.journal.locate(Position::Last).await?.unwrap_or(0);
        for _ in 0..OTHERS_WAITED {
            if self.stores.keeper.position().await? >= last {
                break;
            }
            tokio::time::sleep(LOOKS_AGAIN).await;
        }
        Ok(())
    }

    /// One at a time, and only so much that others are not kept waiting.
    async fn take_some(&self, policies: &Policies) -> Result<usize, StoreError> {
        let mut counted = self.counted.lock().await;
        let from = match *counted {
            Some(from) => from,
            None => self.stores.keeper.position().await?,
        };
        let records = some_records(&*self.stores.journal, from).await?;
        let (taken, last) = (records.len(), records.last().map_or(from, |record| record.seq));
        if taken > 0 {
            self.note_left_rooms(&records).await?;
            let mut changes = Vec::new();
            for record in records {
                if !changes_nothing(&self.stores, &record).await? {
                    changes.extend(change(record, policies));
                }
            }
            if !changes.is_empty() {
                self.memory.apply(changes, policies).await?;
            }
            self.stores.keeper.set_position(last).await?;
        }
        *counted = Some(last);
        Ok(taken)
    }

    /// Reads on until the program stops, and lets what is too weak fade by this clock.
    pub async fn watch(self: Arc<Self>, engine: EngineHandle, clock: RetentionClock, stop: CancellationToken) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = Some(clock);
        let mut faded_at = None;
        for look in 0_u32.. {
            if let Err(error) = self.catch_up().await {
                tracing::warn!(%error, "memory update failed; retrying");
            }
            if look.is_multiple_of(MEANING_EVERY)
                && let Err(error) = self.give_meaning(&engine).await
            {
                tracing::warn!(%error, "embedding failed; retrying");
            }
            let now = clock.now();
            if faded_at.is_none_or(|at| now.since(at) >= FADES_EVERY) {
                faded_at = Some(now);
                if let Err(error) = self.fade(now).await {
                    tracing::warn!(%error, "fading of old facts failed");
                }
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(READS_EVERY) => (),
            }
        }
    }

    async fn fade(&self, now: Time) -> Result<(), StoreError> {
        let policies = self.policies();
        self.memory.apply(vec![MemoryChange::Faded { at: now }], &policies).await?;
        self.forget_left(now - Span::minutes(24 * 60 * u64::from(policies.general().settings.memory.left_days))).await
    }
}

async fn some_records(journal: &dyn JournalStore, from: i64) -> Result<Vec<Record>, StoreError> {
    let (mut records, mut some) = (Records::after(journal, from).await?, Vec::new());
    while some.len() < TOGETHER
        // Damage is reported at the start; here it is skipped.
        && let Some(record) = records.next_whole().await?
    {
        some.push(record);
    }
    Ok(some)
}

/// Whether it is an edit after which the message says what it said: platforms tell of one when they have merely added a preview.
pub(super) async fn changes_nothing(stores: &Stores, record: &Record) -> Result<bool, StoreError> {
    let Input::Changed(change) = &record.input else { return Ok(false) };
    let Some(text) = &change.text else { return Ok(false) };
    let message = Selection::Messages(vec![(change.place.room.clone(), change.id.clone())]);
    let mut before = None;
    look_up(&*stores.index, &message, |earlier| {
        if earlier.seq >= record.seq {
            return;
        }
        if let Input::Said(message) = earlier.input {
            before = Some(message.text);
        } else if let Input::Changed(change) = earlier.input {
            before = change.text;
        }
    })
    .await?;
    Ok(before.as_ref() == Some(text))
}

fn change(record: Record, policies: &Policies) -> Option<MemoryChange> {
    if let Input::Said(message) = record.input {
        let memory = &policies.for_room(message.place.room.as_str()).settings.memory;
        let counts = memory.enabled && memory.profiles && message.author.voice == Voice::Person;
        let room = message.place.room.clone();
        let said = RecordedMessage::new(record.seq, message);
        return counts.then(|| MemoryChange::Heard(Box::new(said.to_heard(&room))));
    }
    let Input::Changed(change) = record.input else { return None };
    Some(MemoryChange::MessageGone { room: change.place.room, message: change.id })
}

/// Whether not everybody in the room could read it.
pub(super) fn is_aside(message: &Message) -> bool {
    message.place.thread.is_some() && message.visibility != Visibility::Public
}
