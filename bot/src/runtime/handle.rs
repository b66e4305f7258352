//! How platforms send inputs to the engines.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock};

use aizuchi_core::effect::Usage;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::settings::Settings;
use aizuchi_core::types::{PersonId, RoomId, stable_hash};
use aizuchi_core::view::RoomView;
use aizuchi_core::{Input, Policies, Time};
use futures_util::FutureExt as _;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::aliases::PersonAliases;
use super::failure::TaskFailure;
use super::ledger::{Ledger, TotalView};
use crate::ports::{TalkWrite, Tenure};
use crate::redacted;
use crate::stores::StoreError;

/// The program is stopping: no engine receives any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("aizuchi is stopping")]
pub struct ShuttingDown;

/// Why something was not made durable.
#[derive(Debug, thiserror::Error)]
pub enum StoringError {
    #[error(transparent)]
    Gone(#[from] ShuttingDown),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Notified when an input is durable; dropped if it is not handed on any more.
#[derive(Debug)]
pub struct HandedOn {
    done: oneshot::Sender<()>,
    /// As long as it may be handed on, if that can end.
    tenure: Option<Tenure>,
}

impl HandedOn {
    /// `false` if nobody waits for it any more.
    pub fn send(self, (): ()) -> bool {
        self.done.send(()).is_ok()
    }

    /// Whether the input may still be handed on. It may not once another process may do so; nor once the connection on which it was heard
    /// does not wait for it, since it may have been let go of.
    pub fn is_wanted(&self) -> bool {
        self.tenure.as_ref().is_none_or(|tenure| tenure.holds() && !self.done.is_closed())
    }
}

/// A request to a shard.
#[derive(Debug)]
pub enum ShardRequest {
    /// An input; the sender is notified when it is durable.
    Input(Input, HandedOn),
    /// A platform stores data of its own, and the engine gets the resulting input.
    Store(StoreRequest),
    /// Pays for something on behalf of a room; the sender is notified when that is durable, and dropped if the budget does
    /// not allow it.
    Pay(RoomId, Usage, oneshot::Sender<()>),
    /// Asks for a view of a room.
    Look(RoomId, oneshot::Sender<Option<RoomView>>),
    /// Forgets a person.
    Forget(ForgetJob),
    /// A room was closed for good; the sender is notified when nothing said there is left in the journal.
    Close(RoomId, oneshot::Sender<Result<(), StoreError>>),
}

/// A write to data that a platform keeps itself, stored in one commit with its record.
pub struct StoreRequest {
    pub room: RoomId,
    /// When it happened.
    pub at: Time,
    /// Whether it addresses the bot, as far as is known.
    pub addressed: bool,
    pub write: TalkWrite,
    /// Notified when it is durable and about to be handled, or could not be stored.
    pub done: oneshot::Sender<Result<(), StoreError>>,
}

impl std::fmt::Debug for StoreRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreRequest").field("room", &self.room).field("at", &self.at).finish_non_exhaustive()
    }
}

/// A request to forget a person.
#[derive(Debug)]
pub struct ForgetJob {
    pub request: Arc<ForgetRequest>,
    /// The number of engines: each forgets the person in its own rooms.
    pub shards: usize,
    /// Notified when nothing of the person is left here.
    pub done: oneshot::Sender<Result<(), StoreError>>,
}

/// An input that waits to be handled.
#[derive(Debug)]
pub struct Promise(oneshot::Receiver<()>);

impl Promise {
    /// Returns when it is durable, and is about to be handled.
    pub async fn durable(self) -> Result<(), ShuttingDown> {
        self.0.await.map_err(|_| ShuttingDown)
    }
}

/// Cheap to clone. A room always belongs to the same engine.
#[derive(Clone, Debug)]
pub struct EngineHandle {
    shards: Arc<[mpsc::Sender<ShardRequest>]>,
    failures: mpsc::UnboundedSender<TaskFailure>,
    /// People with several ids.
    same: Arc<RwLock<PersonAliases>>,
    /// What all rooms spend together, if it is tracked.
    ledger: Option<Arc<Ledger>>,
    /// As long as what is heard may be handed on, if that can end.
    tenure: Option<Tenure>,
}

impl EngineHandle {
    pub fn new(shards: Vec<mpsc::Sender<ShardRequest>>, failures: mpsc::UnboundedSender<TaskFailure>) -> EngineHandle {
        EngineHandle { shards: shards.into(), failures, same: Arc::default(), ledger: None, tenure: None }
    }

    /// Runs a task that must not end before the program does: if it ends or panics, the program stops.
    pub async fn supervise(self, task: &'static str, stop: CancellationToken, work: impl Future<Output = ()>) {
        let ended = AssertUnwindSafe(work).catch_unwind().await;
        if !stop.is_cancelled() {
            let why = if ended.is_err() { redacted::PANIC } else { "it ended" }.into();
            let _ = self.failures.send(TaskFailure { task: task.into(), why });
        }
    }

    /// The same, with the ledger of what all rooms spend together.
    pub fn with_ledger(self, ledger: Arc<Ledger>) -> EngineHandle {
        EngineHandle { ledger: Some(ledger), ..self }
    }

    /// The same for what is heard under a right that may be lost.
    pub fn within(self, tenure: Option<Tenure>) -> EngineHandle {
        EngineHandle { tenure, ..self }
    }

    /// What all rooms spent today, as shown in one of them.
    pub fn total(&self, room: &RoomId, now: Time) -> TotalView {
        self.ledger.as_ref().map(|ledger| ledger.today(room, now)).unwrap_or_default()
    }

    /// Charges a room for something it did not ask for itself, before it is done. `false` if its budget, or that of all
    /// rooms, does not allow it.
    pub async fn pay(&self, room: &RoomId, usage: Usage) -> Result<bool, ShuttingDown> {
        let (done, durable) = oneshot::channel();
        self.shard(room).send(ShardRequest::Pay(room.clone(), usage, done)).await.map_err(|_| ShuttingDown)?;
        Ok(durable.await.is_ok())
    }

    /// From now on the ids of one person are treated as one, for every clone.
    pub fn with_aliases(self, settings: &Settings) -> EngineHandle {
        *self.same.write().unwrap_or_else(PoisonError::into_inner) = PersonAliases::new(&settings.people.same);
        self
    }

    /// Returns when the input is durable and about to be handled. Waits while there is too much to do.
    pub async fn submit(&self, input: Input) -> Result<(), ShuttingDown> {
        self.enqueue(input).await?.durable().await
    }

    /// Returns when the input is queued, after everything of its room that was queued before. Waits while there is too much
    /// to do.
    pub async fn enqueue(&self, mut input: Input) -> Result<Promise, ShuttingDown> {
        self.same.read().unwrap_or_else(PoisonError::into_inner).unite(&mut input);
        let room = input.room().expect("platforms tell of rooms");
        let (done, durable) = oneshot::channel();
        let done = HandedOn { done, tenure: self.tenure.clone() };
        self.shard(room).send(ShardRequest::Input(input, done)).await.map_err(|_| ShuttingDown)?;
        Ok(Promise(durable))
    }

    /// Stores data that a platform keeps itself together with the engine's input, in one commit. Returns when that is
    /// durable and about to be handled. Waits while there is too much to do, but not for a store that refuses.
    pub async fn store(&self, room: RoomId, at: Time, addressed: bool, write: TalkWrite) -> Result<(), StoringError> {
        let same = self.same.clone();
        let write = write.finished_by(move |input| same.read().unwrap_or_else(PoisonError::into_inner).unite(input));
        let (done, stored) = oneshot::channel();
        let shard = self.shard(&room).clone();
        let storing = StoreRequest { room, at, addressed, write, done };
        shard.send(ShardRequest::Store(storing)).await.map_err(|_| ShuttingDown)?;
        Ok(stored.await.map_err(|_| ShuttingDown)??)
    }

    /// New settings apply from now on, in every room. Returns when that is durable.
    pub async fn change_policies(&self, policies: &Policies) -> Result<(), ShuttingDown> {
        let mut durable = Vec::new();
        for shard in self.shards.iter() {
            let (done, is_durable) = oneshot::channel();
            // A different number of engines takes effect at the next start.
            let input = Input::PolicyChanged(Box::new(policies.stated().with_shards(self.shards.len())));
            let done = HandedOn { done, tenure: None };
            shard.send(ShardRequest::Input(input, done)).await.map_err(|_| ShuttingDown)?;
            durable.push(is_durable);
        }
        for is_durable in durable {
            is_durable.await.map_err(|_| ShuttingDown)?;
        }
        self.clone().with_aliases(&policies.general().settings);
        if let Some(ledger) = &self.ledger {
            ledger.set_policies(policies);
        }
        Ok(())
    }

    /// A view of a room; `None` if nothing was ever heard there.
    pub async fn view(&self, room: &RoomId) -> Result<Option<RoomView>, ShuttingDown> {
        let (done, seen) = oneshot::channel();
        self.shard(room).send(ShardRequest::Look(room.clone(), done)).await.map_err(|_| ShuttingDown)?;
        seen.await.map_err(|_| ShuttingDown)
    }

    /// Makes every engine and the journal forget a person. Returns when nothing of them is left there.
    pub async fn forget(&self, request: &Arc<ForgetRequest>) -> Result<(), StoringError> {
        for shard in self.shards.iter() {
            let (done, forgotten) = oneshot::channel();
            let forgetting = ForgetJob { request: request.clone(), shards: self.shards.len(), done };
            shard.send(ShardRequest::Forget(forgetting)).await.map_err(|_| ShuttingDown)?;
            forgotten.await.map_err(|_| ShuttingDown)??;
        }
        Ok(())
    }

    /// Deletes a room that is closed for good from the journal. Returns when nothing that was said there is left in it.
    pub async fn close(&self, room: &RoomId) -> Result<(), StoringError> {
        let (done, closed) = oneshot::channel();
        self.shard(room).send(ShardRequest::Close(room.clone(), done)).await.map_err(|_| ShuttingDown)?;
        Ok(closed.await.map_err(|_| ShuttingDown)??)
    }

    /// Every id of a person, their main id first.
    pub fn ids_of(&self, person: &PersonId) -> Vec<PersonId> {
        self.same.read().unwrap_or_else(PoisonError::into_inner).all(person)
    }

    /// The main id of a person.
    pub fn first_id(&self, person: &PersonId) -> PersonId {
        self.same.read().unwrap_or_else(PoisonError::into_inner).first(person)
    }

    fn shard(&self, room: &RoomId) -> &mpsc::Sender<ShardRequest> {
        &self.shards[shard_of(room, self.shards.len())]
    }
}

/// Which engine a room belongs to.
pub fn shard_of(room: &RoomId, shards: usize) -> usize {
    (stable_hash(0, room.as_str()) % shards as u64) as usize
}
