//! One engine and its loop: append to the journal, then handle, then run the effects.
//!
//! Everything that waits (results first, then the inbox, people who address the bot before others) becomes one batch: each
//! input gets its time, the batch is appended in one transaction, and only then the engine handles it. So every effect has its
//! cause on disk. If the store refuses, the batch is tried again and nothing is handled meanwhile. A `Tick` is recorded only if
//! a deadline is really due. At most one result comes back for each call, so their channel needs no bound; the inbox has one.
//! A stop finishes posts within `runtime.shutdown_seconds`; the rest is resumed at the next start.

mod append;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aizuchi_core::effect::DecisionReport;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Engine, Input, Time, Trace};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::batch::{BATCH_MAX, Batch};
use super::effects::{EffectRunner, note_decisions};
use super::event_time::EventTimes;
use super::events::touch;
use super::ledger::{Ledger, SpendingScope};
use super::priority_queue::{PriorityQueue, is_addressed};
use super::save::Saver;
use super::start::ShardParts;
use super::{EngineEvent, ForgetJob, RuntimeContext, ShardRequest, StoreRequest};
use crate::journal::{Journal, ShardState, traces};
use crate::ports::JournalEntry;
use crate::stores::StoreError;
use append::AppendError;

pub struct Shard {
    number: usize,
    /// The same as the label of its metrics.
    label: Arc<str>,
    engine: Engine,
    journal: Journal,
    context: Arc<RuntimeContext>,
    inbox: mpsc::Receiver<ShardRequest>,
    /// Requests taken from the inbox that wait for their turn.
    queue: PriorityQueue<ShardRequest>,
    /// Answers of models and platforms: at most one for each call in flight, so the channel needs no other bound.
    results: mpsc::UnboundedReceiver<Input>,
    runner: EffectRunner,
    ledger: Arc<Ledger>,
    /// What rooms of one kind are like, over all shards.
    siblings: Arc<Mutex<Siblings>>,
    stop: CancellationToken,
    times: EventTimes,
    seq: u64,
    /// Whether the store refused the last append.
    refused: bool,
    saver: Saver,
    /// Makes all shards take a snapshot, so that a start reads little of the journal whichever shard was busy.
    snapshots: watch::Sender<()>,
    snapshot_due: watch::Receiver<()>,
    batch: Batch,
    /// The deadline of a shutdown, once one has begun.
    ends_by: Option<Instant>,
}

impl Shard {
    pub fn new(number: usize, engine: Engine, inbox: mpsc::Receiver<ShardRequest>, shared: ShardParts) -> Shard {
        let ShardParts { journal, context, ledger, siblings, snapshots, stop } = shared;
        let (answer, results) = mpsc::unbounded_channel();
        let policies = Arc::new(engine.policies().clone());
        Shard {
            number,
            label: number.to_string().into(),
            runner: EffectRunner::new(context.clone(), policies, answer, ledger.clone()),
            ledger,
            siblings,
            times: EventTimes::new(context.clone()),
            engine,
            saver: Saver::new(journal.clone(), number),
            journal,
            context,
            inbox,
            queue: PriorityQueue::default(),
            results,
            stop,
            seq: 0,
            refused: false,
            snapshot_due: snapshots.subscribe(),
            snapshots,
            batch: Batch::default(),
            ends_by: None,
        }
    }

    /// Runs until shutdown; returns `Err` if it cannot go on.
    pub async fn run(mut self, last: Time, seq: u64, opening: Vec<Input>) -> Result<(), StoreError> {
        self.seq = seq;
        self.times.begin(last);
        for input in opening {
            self.stamp(input);
        }
        self.handle_batch().await?;
        while self.wait().await {
            self.take_more();
            self.handle_batch().await?;
            if self.snapshot_due.has_changed().is_ok_and(|due| due) {
                self.snapshot_due.mark_unchanged();
                self.save().await;
            }
        }
        self.finish().await
    }

    /// Waits for something to do; `false` when it is time to stop.
    async fn wait(&mut self) -> bool {
        if self.inbox.is_empty() && self.results.is_empty() && self.queue.is_empty() {
            self.times.note_idle();
        }
        tokio::select! {
            biased;
            () = self.stop.cancelled() => return false,
            Some(input) = self.results.recv() => self.stamp(input),
            () = std::future::ready(()), if !self.queue.is_empty() => (),
            heard = self.inbox.recv() => match heard {
                Some(heard) => self.line_up(heard),
                None => return false,
            },
            Ok(()) = self.snapshot_due.changed() => self.save().await,
            () = self.context.clock.sleep_until(self.engine.next_deadline()) => {
                self.notice_clock();
                // An early wake-up is not an event.
                let now = self.now();
                if self.batch.entries.is_empty() && self.engine.next_deadline().is_some_and(|due| due <= now) {
                    self.stamp(Input::Tick);
                }
            }
        }
        true
    }

    /// Adds everything that is already waiting to the batch; people who address the bot go first.
    fn take_more(&mut self) {
        while self.batch.entries.len() < BATCH_MAX
            && let Ok(input) = self.results.try_recv()
        {
            self.stamp(input);
        }
        // The queue holds as many requests as the inbox, so that all of them can be prioritised.
        while self.queue.len() < self.inbox.max_capacity()
            && let Ok(heard) = self.inbox.try_recv()
        {
            self.line_up(heard);
        }
        for heard in self.queue.take(BATCH_MAX.saturating_sub(self.batch.entries.len())) {
            self.take(heard);
        }
    }

    fn line_up(&mut self, heard: ShardRequest) {
        let (room, addressed) = match &heard {
            ShardRequest::Input(input, _) => (input.room().cloned(), is_addressed(input, self.engine.policies())),
            ShardRequest::Store(storing) => (Some(storing.room.clone()), storing.addressed),
            ShardRequest::Pay(room, ..) | ShardRequest::Look(room, _) | ShardRequest::Close(room, _) => {
                (Some(room.clone()), false)
            }
            ShardRequest::Forget(_) => (None, false),
        };
        self.queue.push(room, addressed, heard);
    }

    fn take(&mut self, heard: ShardRequest) {
        match heard {
            ShardRequest::Input(input, durable) => {
                self.stamp(input);
                self.batch.told.push(durable);
            }
            ShardRequest::Store(StoreRequest { room, at, write, done, .. }) => {
                self.notice_clock();
                let stamp = self.times.stamp_event(Some(&room), Some(at));
                let stamp_at = stamp.at;
                let write = write.finished_by(move |input| stamp.put_on(input));
                self.batch.push_stored(stamp_at, write, done);
            }
            ShardRequest::Pay(room, usage, durable) => {
                if self.ledger.can_pay(&self.engine, self.now(), &room, &usage) {
                    self.stamp(Input::Billed(room, usage));
                    self.batch.paid.push(durable);
                }
            }
            ShardRequest::Look(room, seen) => self.batch.looks.push((room, seen)),
            ShardRequest::Forget(forgetting) => self.batch.forgets.push(forgetting),
            ShardRequest::Close(room, done) => self.batch.closes.push((room, done)),
        }
    }

    fn now(&self) -> Time {
        self.times.now()
    }

    /// Passes an input to the engine if the clock was set.
    fn notice_clock(&mut self) {
        self.batch.entries.extend(self.times.notice().map(|(at, input)| JournalEntry::Input(at, input)));
    }

    fn stamp(&mut self, mut input: Input) {
        self.notice_clock();
        let at = self.times.stamp(&mut input);
        self.batch.entries.push(JournalEntry::Input(at, input));
    }

    async fn handle_batch(&mut self) -> Result<(), StoreError> {
        let mut batch = std::mem::take(&mut self.batch);
        let (forgets, looks) = (std::mem::take(&mut batch.forgets), std::mem::take(&mut batch.looks));
        let closes = std::mem::take(&mut batch.closes);
        if !batch.entries.is_empty() {
            // Without a record it has not happened: it is received, asked or looked for again at the next start.
            let inputs = match self.append(batch).await {
                Ok(inputs) => inputs,
                Err(AppendError::Stopping) => return Ok(()),
                Err(AppendError::Closed) => return Err(StoreError::Closed),
            };
            self.handle(inputs.into_iter()).await;
            self.save_now_and_then();
        }
        for ForgetJob { request, shards, done } in forgets {
            let _ = done.send(self.forget(&request, shards).await);
        }
        for (room, done) in closes {
            let _ = done.send(self.forget_closed(room).await);
        }
        let now = self.now();
        for (room, seen) in looks {
            let _ = seen.send(self.engine.view(&room, now));
        }
        Ok(())
    }

    async fn handle(&mut self, inputs: impl Iterator<Item = (Time, Input)>) {
        let (mut effects, mut touched) = (Vec::new(), Vec::new());
        let (mut decided, mut updated) = (Vec::new(), Vec::new());
        for (at, input) in inputs {
            touch(&mut touched, input.room());
            if let Some(call) = input.call() {
                self.runner.finish_call(call);
            }
            if let Input::Said(message) = &input {
                self.runner.note_language(&message.place.room, &message.text);
            }
            if matches!(input, Input::ClockSet(by) if by.0 < 0)
                && let Err(error) = self.journal.order_traces(at).await
            {
                tracing::warn!(%error, "cannot reorder decisions");
            }
            let said_in = input.room().filter(|_| matches!(input, Input::Said(_))).cloned();
            let (changed, whose) = (matches!(input, Input::PolicyChanged(_)), SpendingScope::of(&input));
            self.engine.handle(at, input, &mut effects);
            self.ledger.book(&self.engine, at, &whose, &effects);
            if changed {
                self.runner.policies = Arc::new(self.engine.policies().clone());
            }
            for effect in effects.drain(..) {
                touch(&mut touched, Some(effect.room()));
                match effect.into_report() {
                    Ok(DecisionReport::Final(trace)) => {
                        self.siblings().note(&self.engine, &trace);
                        decided.push(*trace);
                    }
                    Ok(DecisionReport::Received(trace)) => decided.push(*trace),
                    Ok(DecisionReport::Updated(trace)) => updated.push(*trace),
                    Err(wanted) => self.runner.run(&self.engine, at, wanted, self.seq),
                }
            }
            if let Some(told) = said_in.and_then(|room| self.siblings().introduce(&self.engine, &room)) {
                self.runner.tell(told);
            }
        }
        self.publish(touched, decided, updated).await;
    }

    fn siblings(&self) -> MutexGuard<'_, Siblings> {
        self.siblings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn publish(&mut self, touched: Vec<RoomId>, mut decided: Vec<Trace>, mut updated: Vec<Trace>) {
        decided.retain(|trace| !traces::is_repeat(trace));
        note_decisions(&self.context, &decided);
        // After the decisions they are about, and not counted again.
        decided.append(&mut updated);
        if self.context.events.receiver_count() > 0 {
            for trace in &decided {
                let _ = self.context.events.send(EngineEvent::Decided(Arc::new(trace.clone())));
            }
            let now = self.now();
            for room in touched {
                if let Some(view) = self.engine.view(&room, now) {
                    let _ = self.context.events.send(EngineEvent::Changed(room, Arc::new(view)));
                }
            }
        }
        self.saver.keep(decided);
        metrics::gauge!("aizuchi_rooms", "shard" => self.label.clone()).set(self.engine.room_count() as f64);
    }

    /// With many rooms a snapshot is large and is taken less often, so that its cost stays in proportion to what happens.
    fn save_now_and_then(&self) {
        let records = u64::from(self.context.store.snapshot_records);
        if self.saver.unsaved() >= records.max(8 * self.engine.room_count() as u64) {
            self.snapshots.send_replace(());
        }
    }

    async fn save(&mut self) {
        let Shard { engine, saver, number, seq, times, .. } = self;
        saver.begin_save(|| ShardState { seq: Some(*seq), ..ShardState::of(*number, times.last(), engine) }).await;
    }

    fn state(&self) -> ShardState {
        ShardState::of(self.number, self.times.last(), &self.engine)
    }

    /// Forgets a person. Their records and the engine's knowledge of them are deleted together; the effects that have to be
    /// requested again follow only then.
    async fn forget(&mut self, request: &Arc<ForgetRequest>, shards: usize) -> Result<(), StoreError> {
        // Decisions that are still being stored would otherwise be missed.
        self.saver.keep_all().await?;
        let found = self.journal.footprints(self.number, shards, request.clone()).await?;
        let mut effects = Vec::new();
        let now = self.now();
        self.engine.forget(now, &found.request.recognizer(), &mut effects);
        self.ledger.book(&self.engine, now, &SpendingScope::OfEffects, &effects);
        let policies = self.engine.policies().clone();
        let forgotten = self.journal.forget(found, &policies, self.state()).await;
        if forgotten.is_ok() {
            self.saver.is_saved();
        }
        for wanted in effects.into_iter().filter_map(|effect| effect.into_report().err()) {
            self.runner.run(&self.engine, now, wanted, self.seq);
        }
        forgotten
    }

    /// A room is closed for good, and the engine has handled that: what was said there is deleted from the journal.
    async fn forget_closed(&mut self, room: RoomId) -> Result<(), StoreError> {
        self.saver.keep_all().await?;
        let policies = self.engine.policies().clone();
        self.journal.forget_closed(room, &policies, self.state()).await?;
        self.saver.is_saved();
        Ok(())
    }

    fn ends_by(&mut self) -> Instant {
        let patience = self.engine.policies().general().settings.runtime.shutdown_seconds;
        *self.ends_by.get_or_insert_with(|| Instant::now() + Duration::from_secs(patience.into()))
    }

    /// Posts that are being sent may finish; models are called again at the next start.
    async fn finish(mut self) -> Result<(), StoreError> {
        self.context.ready.send_replace(false);
        self.inbox.close();
        self.runner.abort_calls();
        // Otherwise the next start could not tell a clock that was set from time that passed.
        self.notice_clock();
        self.handle_batch().await?;
        self.runner.abort_calls();
        let until = self.ends_by();
        while self.runner.is_posting() {
            match tokio::time::timeout_at(until, self.results.recv()).await {
                Ok(Some(input)) => {
                    self.stamp(input);
                    self.handle_batch().await?;
                    self.runner.abort_calls();
                }
                Ok(None) => break,
                Err(_) => {
                    tracing::warn!("a post is unfinished; the next start checks whether it arrived");
                    break;
                }
            }
        }
        let Shard { engine, saver, number, times, .. } = &mut self;
        saver.save(|| ShardState::of(*number, times.last(), engine)).await;
        Ok(())
    }
}
