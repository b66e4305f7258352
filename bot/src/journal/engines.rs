//! The engines that the journal's records make: one for each shard, dealt out anew where the number of shards changed.
//!
//! A record names the shard that handled it. Which rooms that shard had follows from the number of shards then, and that
//! number is part of the settings, which each start writes down before anything else happens. So everything that goes through the
//! records in their order always knows which engine a record belongs to.

use aizuchi_core::engine::Snapshot;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::policy::StoredPolicies;
#[cfg(feature = "cluster")]
use aizuchi_core::types::RoomId;
use aizuchi_core::{Engine, Input, Policies, Time};

use super::record::sum;
use crate::learnt;
use crate::ports::{BaseMark, EngineState, Record, SnapshotStore, StateKind, StoredState, StoredStates};
use crate::redacted;
use crate::runtime::shard_of;
use crate::stores::StoreError;

/// The engines after some of the records.
pub struct Engines(Vec<EngineProgress>);

/// An engine, and the last record it has handled or need not handle.
struct EngineProgress {
    seq: i64,
    engine: Engine,
}

/// A stored engine.
struct StoredEngine {
    shard: usize,
    seq: i64,
    /// How many shards there were; `None` if its settings cannot be read.
    shards: Option<usize>,
    engine: Engine,
}

impl Engines {
    /// Nothing has happened yet.
    pub fn fresh(policies: &Policies) -> Engines {
        let shards = policies.general().settings.runtime.shards as usize;
        Engines((0..shards).map(|_| EngineProgress::fresh(policies)).collect())
    }

    /// The engines as they were snapshotted; `Err` says why they cannot be used. `Ok(None)` if there are none.
    pub fn snapshotted(states: &[StoredState], policies: &Policies) -> Result<Option<Engines>, String> {
        let stored = read_states(states, StateKind::Snapshot, policies)?;
        let Some(count) = stored.first().map(|first| first.shards) else { return Ok(None) };
        // Engines of other shards hold the other rooms: a part of them is worth nothing.
        let whole = stored.len() == count.unwrap_or(stored.len())
            && stored.iter().enumerate().all(|(shard, engine)| engine.shard == shard && engine.shards == count);
        if !whole {
            let found: Vec<String> = stored.iter().map(|engine| engine.shard.to_string()).collect();
            return Err(format!("only shard {} was snapshotted", found.join(", ")));
        }
        let reached = stored.into_iter().map(|StoredEngine { seq, engine, .. }| EngineProgress { seq, engine });
        Ok(Some(Engines(reached.collect())))
    }

    /// The engines that the first record kept here finds; fresh ones where no record was ever let go of. A caller that puts others
    /// in their place needs the mark.
    pub async fn at_the_beginning(
        store: &dyn SnapshotStore,
        policies: &Policies,
    ) -> Result<(Result<Engines, String>, BaseMark), StoreError> {
        let StoredStates { states, mark } = store.states(StateKind::Base).await?;
        let policies = policies.clone();
        // Away from where others wait: they may be large.
        let read = move || Engines::of_base(&states, &policies);
        Ok((tokio::task::spawn_blocking(read).await.expect("reading engines does not panic"), mark))
    }

    fn of_base(states: &[StoredState], policies: &Policies) -> Result<Engines, String> {
        let stored = read_states(states, StateKind::Base, policies)?;
        let Some(last) = stored.last() else { return Ok(Engines::fresh(policies)) };
        let count = last.shards.unwrap_or(0).max(last.shard + 1);
        let mut engines = Engines((0..count).map(|_| EngineProgress::fresh(policies)).collect());
        for StoredEngine { shard, seq, engine, .. } in stored {
            engines.0[shard] = EngineProgress { seq, engine };
        }
        Ok(engines)
    }

    /// Each room in the engine of its number, of `count` engines that have handled everything up to `seq`.
    #[cfg(feature = "cluster")]
    pub fn of_rooms(engine: Engine, number_of: impl Fn(&RoomId) -> usize, count: usize, seq: i64) -> Engines {
        let policies = engine.policies().clone();
        let restore = |part| Engine::restore(policies.clone(), part).expect("a snapshot just taken is of this version");
        let parts = engine.into_snapshot().split(count, number_of).into_iter();
        Engines(parts.map(|part| EngineProgress { seq, engine: restore(part) }).collect())
    }

    /// Whether what came of this record is known already.
    pub fn has_handled(&self, record: &Record) -> bool {
        self.0.get(record.shard as usize).is_some_and(|reached| record.seq <= reached.seq)
    }

    /// Up to here every engine has handled its records.
    pub fn seq(&self) -> i64 {
        self.0.iter().map(|reached| reached.seq).min().unwrap_or(0)
    }

    /// The engine that handles this record next.
    pub fn engine_for(&mut self, record: &Record) -> &mut Engine {
        if let Input::PolicyChanged(stated) = &record.input
            && stated.shards() != self.0.len()
            // A room of a cluster has an engine of its own.
            && stated.shards() > 0
        {
            self.deal(stated.shards(), record.seq - 1);
        }
        let shard = record.shard as usize;
        if shard >= self.0.len() {
            let policies = self.0[0].engine.policies().clone();
            self.0.resize_with(shard + 1, || EngineProgress::fresh(&policies));
        }
        self.0[shard].seq = record.seq;
        // Settings that were to hold from the next start on were once recorded at once: the room may be elsewhere.
        let knows = |reached: &EngineProgress| record.input.room().is_none_or(|room| reached.engine.knows(room));
        let holder = if knows(&self.0[shard]) { shard } else { self.0.iter().position(knows).unwrap_or(shard) };
        &mut self.0[holder].engine
    }

    /// Another number of shards: the rooms are dealt out anew.
    fn deal(&mut self, shards: usize, seq: i64) {
        let policies = self.0[0].engine.policies().clone();
        let parts = split(std::mem::take(&mut self.0).into_iter().map(|reached| reached.engine), shards);
        let restore = |part| Engine::restore(policies.clone(), part).expect("a snapshot just taken is of this version");
        self.0 = parts.into_iter().map(|part| EngineProgress { seq, engine: restore(part) }).collect();
    }

    /// One for each of `shards`, under these policies.
    pub fn into_engines(self, policies: &Policies, shards: usize) -> Vec<Engine> {
        let parts = split(self.0.into_iter().map(|reached| reached.engine), shards);
        let restore = |part| Engine::restore(policies.clone(), part).expect("a snapshot just taken is of this version");
        parts.into_iter().map(restore).collect()
    }

    /// Whether no record was handled by any of them.
    pub fn is_fresh(&self) -> bool {
        self.0.iter().all(|reached| reached.seq == 0)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Models that they were decided by and that are not there.
    pub fn missing_models(&self, known: &Policies) -> Option<String> {
        learnt::missing(&self.policies(), known)
    }

    pub fn policies(&self) -> StoredPolicies {
        self.0[0].engine.policies().stated()
    }

    /// As what the journal begins with, without a person.
    pub async fn encode_without(mut self, request: ForgetRequest) -> Vec<EngineState> {
        let forget = move || {
            let theirs = request.recognizer().doubting();
            for reached in &mut self.0 {
                reached.engine.forget(Time(0), &theirs, &mut Vec::new());
            }
            self
        };
        tokio::task::spawn_blocking(forget).await.expect("forgetting does not panic").encode().await
    }

    /// The same after these inputs, which no engine has handled yet.
    pub async fn encode_after(mut self, inputs: Vec<Input>) -> Vec<EngineState> {
        let handle = move || {
            let mut effects = Vec::new();
            for input in inputs {
                for reached in &mut self.0 {
                    if input.room().is_some_and(|room| reached.engine.knows(room)) {
                        // No time passes: what is pending stays pending.
                        reached.engine.handle(Time(0), input.clone(), &mut effects);
                        effects.clear();
                    }
                }
            }
            self
        };
        tokio::task::spawn_blocking(handle).await.expect("handling does not panic").encode().await
    }

    /// Ready to be stored as what the journal begins with.
    pub async fn encode(self) -> Vec<EngineState> {
        let count = self.count();
        let encode = move |(shard, reached): (usize, &EngineProgress)| {
            let (policies, snapshot) = (reached.engine.policies().stated(), reached.engine.snapshot());
            encode(shard, count, Some(reached.seq), Time(0), &policies, &snapshot)
        };
        let encode_all = move || self.0.iter().enumerate().map(encode).collect();
        tokio::task::spawn_blocking(encode_all).await.expect("encoding does not panic")
    }
}

fn split(engines: impl Iterator<Item = Engine>, shards: usize) -> Vec<Snapshot> {
    Snapshot::joined(engines.map(Engine::into_snapshot)).split(shards, |room| shard_of(room, shards))
}

impl EngineProgress {
    fn fresh(policies: &Policies) -> EngineProgress {
        EngineProgress { seq: 0, engine: Engine::new(policies.clone()) }
    }
}

/// An engine ready to be stored.
pub fn encode(
    shard: usize,
    shards: usize,
    seq: Option<i64>,
    at: Time,
    policies: &StoredPolicies,
    snapshot: &Snapshot,
) -> EngineState {
    let policies = serde_json::to_string(policies).expect("settings are plain data");
    let body = serde_json::to_string(snapshot).expect("a snapshot is plain data");
    let sum = sum(&body);
    EngineState { shard, shards, seq, at, policies, body, sum }
}

/// `Err` says what is damaged.
fn read_states(states: &[StoredState], kind: StateKind, policies: &Policies) -> Result<Vec<StoredEngine>, String> {
    let read = |state: &StoredState| {
        let StoredState { shard, seq, .. } = *state;
        let engine = read_engine(&state.policies, &state.body, state.sum, policies)
            .map_err(|damage| format!("the {} of shard {shard} is damaged: {damage}", kind.name()))?;
        let shards = state.shards.or_else(|| stated_shards(&state.policies));
        Ok(StoredEngine { shard, seq, shards, engine })
    };
    states.iter().map(read).collect()
}

/// Older versions say only in the settings how many there are.
fn stated_shards(stated: &[u8]) -> Option<usize> {
    let stated: serde_json::Value = serde_json::from_slice(stated).ok()?;
    stated.pointer("/general/0/runtime/shards")?.as_u64().map(|shards| shards as usize)
}

fn read_engine(stated: &[u8], body: &[u8], expected: Option<i64>, policies: &Policies) -> Result<Engine, String> {
    let body = std::str::from_utf8(body).map_err(|_| "not UTF-8")?;
    if expected.is_some_and(|expected| expected != sum(body)) {
        return Err("wrong checksum".into());
    }
    let snapshot: Snapshot = serde_json::from_str(body).map_err(|error| redacted::parse_error(&error))?;
    // Settings of another version of this program may not be readable: today's hold.
    let held = serde_json::from_slice::<StoredPolicies>(stated)
        .map_or_else(|_| policies.clone(), |stated| stated.known_to(policies));
    Engine::restore(held, snapshot)
}
