//! Keeps long memory: reads the journal for what was said, has it summed up and thought over, and finds it again.
//!
//! The journal is where everything comes from; how far it was read is written down together with what came of it, so that
//! no message counts twice and none is passed over, whenever the program stops.

mod at_rest;
mod digest;
mod embeddings;
mod forget;
mod forget_jobs;
mod initiative;
mod jobs;
mod left_rooms;
mod lines;
mod list;
mod lookup;
mod names;
mod opted_out;
mod pending;
mod recall;
mod spoken;
mod ties;
mod watch;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use aizuchi_core::Policies;
use aizuchi_core::memory::MemoryChange;
use tokio::sync::{Mutex, Notify};

pub use at_rest::NamesLeft;
pub use forget::{ForgetError, ForgetResult, ForgetState};
pub use jobs::settle_later;
pub use list::{ListedTie, PerhapsNamed, PersonList};
pub use lookup::{HistoryQuery, LookupScope};
pub use opted_out::{OptOutResult, OptOutState, opted_out_people};

use crate::ports::{Embedder, Memory, ModelClient, Position, Stores, WaitDeadline};
use crate::runtime::{EngineHandle, RetentionClock};
use crate::stores::StoreError;

pub struct Keeper {
    memory: Arc<dyn Memory>,
    models: Arc<dyn ModelClient>,
    /// Who says what words mean; none where words are enough.
    embedder: Option<Arc<dyn Embedder>>,
    stores: Stores,
    policies: RwLock<Arc<Policies>>,
    /// Whether it follows the journal; another process does so otherwise.
    counts: std::sync::atomic::AtomicBool,
    /// The last record of the journal whose people were counted; one at a time.
    counted: Mutex<Option<i64>>,
    /// What final decisions say about who answers whom, not read yet.
    links: std::sync::Mutex<VecDeque<ties::NotedLink>>,
    /// One person is forgotten at a time.
    forgetting: Mutex<()>,
    /// Somebody could not be forgotten at once.
    unfinished: Notify,
    /// Whose names may be somebody else's.
    asked: std::sync::Mutex<Vec<forget::OpenQuestion>>,
    /// By which old facts fade, once it reads on.
    clock: std::sync::Mutex<Option<RetentionClock>>,
    /// Where events are sent, once there is anybody to receive them.
    engine: OnceLock<EngineHandle>,
    /// One request to forget something is carried out at a time.
    obeying: Mutex<()>,
    /// What became of the latest of them.
    requests: std::sync::Mutex<Vec<spoken::SpokenRequest>>,
}

impl Keeper {
    pub fn new(
        memory: Arc<dyn Memory>,
        models: Arc<dyn ModelClient>,
        stores: impl Into<Stores>,
        policies: Policies,
    ) -> Keeper {
        Keeper {
            memory,
            models,
            embedder: None,
            stores: stores.into(),
            policies: RwLock::new(Arc::new(policies)),
            counts: true.into(),
            counted: Mutex::default(),
            links: std::sync::Mutex::default(),
            forgetting: Mutex::default(),
            unfinished: Notify::new(),
            asked: std::sync::Mutex::default(),
            clock: std::sync::Mutex::default(),
            engine: OnceLock::new(),
            obeying: Mutex::default(),
            requests: std::sync::Mutex::default(),
        }
    }

    /// From now on it can tell the engines what is no longer there.
    pub fn connect(&self, engine: EngineHandle) {
        // The first one stays: there is one runtime for each keeper.
        let _ = self.engine.set(engine);
    }

    /// From now on it follows the journal, or another process does.
    #[cfg(feature = "cluster")]
    pub async fn count(&self, counts: bool) {
        // How far the other one came is read anew.
        *self.counted.lock().await = None;
        self.counts.store(counts, std::sync::atomic::Ordering::SeqCst);
    }

    /// Takes in who answered whom, as far as this process decided it.
    #[cfg(feature = "cluster")]
    pub async fn take_noted(&self) -> Result<(), StoreError> {
        self.take_links(&self.policies()).await
    }

    /// The same, finding facts by meaning as well as by words.
    pub fn understanding(self, embedder: Arc<dyn Embedder>) -> Keeper {
        Keeper { embedder: Some(embedder), ..self }
    }

    /// Other settings hold from now on.
    pub fn set_policies(&self, policies: &Policies) {
        *self.policies.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policies.clone());
    }

    pub fn policies(&self) -> Arc<Policies> {
        self.policies.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn memory(&self) -> &dyn Memory {
        &*self.memory
    }

    /// Records may be missing at the end, as in an older backup, and their numbers are given again. Where memory is elsewhere,
    /// it would take the new ones for read.
    pub async fn accept_lost_records(&self) -> Result<(), StoreError> {
        let last = self.stores.journal.locate(Position::Last).await?.unwrap_or(0);
        let rooms = self.memory.set_back_marks(last.cast_unsigned()).await?;
        if rooms > 0 {
            tracing::warn!(
                rooms,
                last,
                "memory has read records that the journal lacks; it reads on after the last one"
            );
        }
        Ok(())
    }

    /// Somebody waits for it: not for long, where memory is elsewhere and may not answer.
    pub async fn in_time<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        match self.memory.wait_limit() {
            None => work.await,
            Some(limit) => limit.within(work).await?,
        }
    }

    /// Until when somebody who asks now waits for several things.
    pub fn waiting(&self) -> WaitDeadline {
        WaitDeadline::of(self.memory.wait_limit())
    }

    /// Changes what is remembered, by somebody's hand. What was taken out is in no file afterwards.
    pub async fn change(&self, changes: Vec<MemoryChange>) -> Result<(), StoreError> {
        let forgets = changes.iter().any(MemoryChange::forgets);
        self.memory.apply(changes, &self.policies()).await?;
        if forgets { self.settle().await } else { Ok(()) }
    }
}
