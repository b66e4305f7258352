//! How platforms tell the engines what happened.

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

use super::failure::{Failure, panic_message};
use super::ledger::{Ledger, TotalView};
use super::same::Same;
use crate::ports::TalkWrite;
use crate::stores::StoreError;

/// The program is stopping: nobody listens any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("aizuchi is stopping")]
pub struct Gone;

/// Why something is not durable.
#[derive(Debug, thiserror::Error)]
pub enum NotStored {
    #[error(transparent)]
    Gone(#[from] Gone),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Something for an engine.
#[derive(Debug)]
pub enum Heard {
    /// Something happened; told back when it is durable.
    Input(Input, oneshot::Sender<()>),
    /// A platform stores something of its own, and the engine hears of it.
    Store(Storing),
    /// Something is to be paid for on behalf of a room; told back when that is durable, dropped where it cannot pay.
    Pay(RoomId, Usage, oneshot::Sender<()>),
    /// Somebody wants to look.
    Look(RoomId, oneshot::Sender<Option<RoomView>>),
    /// Somebody wants to be forgotten.
    Forget(Forgetting),
}

/// What a platform keeps itself, to be stored in one commit with the record of it.
pub struct Storing {
    pub room: RoomId,
    /// When it happened.
    pub at: Time,
    /// Whether somebody turns to the bot with it, as far as is known.
    pub addressed: bool,
    pub write: TalkWrite,
    /// Told back when it is durable and about to be handled, or could not be stored.
    pub done: oneshot::Sender<Result<(), StoreError>>,
}

impl std::fmt::Debug for Storing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storing").field("room", &self.room).field("at", &self.at).finish_non_exhaustive()
    }
}

/// A person who wants to be forgotten.
#[derive(Debug)]
pub struct Forgetting {
    pub request: Arc<ForgetRequest>,
    /// How many engines there are: each forgets them in its own rooms.
    pub shards: usize,
    /// Told back when nothing of them is left here.
    pub done: oneshot::Sender<Result<(), StoreError>>,
}

/// Something that waits to be handled.
#[derive(Debug)]
pub struct Promise(oneshot::Receiver<()>);

impl Promise {
    /// Returns when it is durable, and is about to be handled.
    pub async fn durable(self) -> Result<(), Gone> {
        self.0.await.map_err(|_| Gone)
    }
}

/// Cheap to clone. A room is always heard by the same engine.
#[derive(Clone, Debug)]
pub struct Ears {
    shards: Arc<[mpsc::Sender<Heard>]>,
    failures: mpsc::UnboundedSender<Failure>,
    /// Who is one person under several ids.
    same: Arc<RwLock<Same>>,
    /// What all rooms spend together, where somebody adds it up.
    ledger: Option<Arc<Ledger>>,
}

impl Ears {
    pub fn new(shards: Vec<mpsc::Sender<Heard>>, failures: mpsc::UnboundedSender<Failure>) -> Ears {
        Ears { shards: shards.into(), failures, same: Arc::default(), ledger: None }
    }

    /// Runs a task that must not end before the program does: if it does, or panics, the program is ended.
    pub async fn supervise(self, task: &'static str, stop: CancellationToken, work: impl Future<Output = ()>) {
        let ended = AssertUnwindSafe(work).catch_unwind().await;
        if !stop.is_cancelled() {
            let why = ended.err().map_or_else(|| "it ended".into(), |panic| panic_message(&*panic));
            let _ = self.failures.send(Failure { task: task.into(), why });
        }
    }

    /// The same, knowing what all rooms spend together.
    pub fn adding_up(self, ledger: Arc<Ledger>) -> Ears {
        Ears { ledger: Some(ledger), ..self }
    }

    /// What all rooms spent today, as it is shown in one of them.
    pub fn total(&self, room: &RoomId, now: Time) -> TotalView {
        self.ledger.as_ref().map(|ledger| ledger.today(room, now)).unwrap_or_default()
    }

    /// Has a room pay for something it did not ask for itself, before it is done. `false` where its budget, or that of all
    /// rooms, does not allow it.
    pub async fn pay(&self, room: &RoomId, usage: Usage) -> Result<bool, Gone> {
        let (done, durable) = oneshot::channel();
        self.shard(room).send(Heard::Pay(room.clone(), usage, done)).await.map_err(|_| Gone)?;
        Ok(durable.await.is_ok())
    }

    /// From now on the ids of one person are heard as one, for every clone.
    pub fn knowing(self, settings: &Settings) -> Ears {
        *self.same.write().unwrap_or_else(PoisonError::into_inner) = Same::new(&settings.people.same);
        self
    }

    /// Returns when it is durable, and is about to be handled. Waits while there is too much to do.
    pub async fn hear(&self, input: Input) -> Result<(), Gone> {
        self.queue(input).await?.durable().await
    }

    /// Returns when it waits to be handled, after everything of its room that was queued before. Waits while there is too
    /// much to do.
    pub async fn queue(&self, mut input: Input) -> Result<Promise, Gone> {
        self.same.read().unwrap_or_else(PoisonError::into_inner).unite(&mut input);
        let room = input.room().expect("platforms tell of rooms");
        let (done, durable) = oneshot::channel();
        self.shard(room).send(Heard::Input(input, done)).await.map_err(|_| Gone)?;
        Ok(Promise(durable))
    }

    /// Has something stored that a platform keeps itself, and heard, in one commit. Returns when that is durable, and is about
    /// to be handled. Waits while there is too much to do, but not for a store that refuses.
    pub async fn store(&self, room: RoomId, at: Time, addressed: bool, write: TalkWrite) -> Result<(), NotStored> {
        let same = self.same.clone();
        let write = write.finished_by(move |input| same.read().unwrap_or_else(PoisonError::into_inner).unite(input));
        let (done, stored) = oneshot::channel();
        let shard = self.shard(&room).clone();
        let storing = Storing { room, at, addressed, write, done };
        shard.send(Heard::Store(storing)).await.map_err(|_| Gone)?;
        Ok(stored.await.map_err(|_| Gone)??)
    }

    /// Other settings hold from now on, in every room. Returns when that is durable.
    pub async fn govern(&self, policies: &Policies) -> Result<(), Gone> {
        let mut durable = Vec::new();
        for shard in self.shards.iter() {
            let (done, is_durable) = oneshot::channel();
            // Their number holds from the next start on.
            let input = Input::PolicyChanged(Box::new(policies.stated().with_shards(self.shards.len())));
            shard.send(Heard::Input(input, done)).await.map_err(|_| Gone)?;
            durable.push(is_durable);
        }
        for is_durable in durable {
            is_durable.await.map_err(|_| Gone)?;
        }
        self.clone().knowing(&policies.general().settings);
        if let Some(ledger) = &self.ledger {
            ledger.govern(policies);
        }
        Ok(())
    }

    /// A look at a room; `None` if nothing was ever heard there.
    pub async fn look(&self, room: &RoomId) -> Result<Option<RoomView>, Gone> {
        let (done, seen) = oneshot::channel();
        self.shard(room).send(Heard::Look(room.clone(), done)).await.map_err(|_| Gone)?;
        seen.await.map_err(|_| Gone)
    }

    /// Has every engine forget a person, and the journal too. Returns when nothing of them is left there.
    pub async fn forget(&self, request: &Arc<ForgetRequest>) -> Result<(), NotStored> {
        for shard in self.shards.iter() {
            let (done, forgotten) = oneshot::channel();
            let forgetting = Forgetting { request: request.clone(), shards: self.shards.len(), done };
            shard.send(Heard::Forget(forgetting)).await.map_err(|_| Gone)?;
            forgotten.await.map_err(|_| Gone)??;
        }
        Ok(())
    }

    /// Every id of a person, the one they are known by first.
    pub fn ids_of(&self, person: &PersonId) -> Vec<PersonId> {
        self.same.read().unwrap_or_else(PoisonError::into_inner).all(person)
    }

    /// The id a person is known by.
    pub fn first_id(&self, person: &PersonId) -> PersonId {
        self.same.read().unwrap_or_else(PoisonError::into_inner).first(person)
    }

    fn shard(&self, room: &RoomId) -> &mpsc::Sender<Heard> {
        &self.shards[shard_of(room, self.shards.len())]
    }
}

/// Which engine a room belongs to.
pub fn shard_of(room: &RoomId, shards: usize) -> usize {
    (stable_hash(0, room.as_str()) % shards as u64) as usize
}
