//! Brings the engines to life where they left off, and puts them to rest again.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::{ClockShift, Span};
use aizuchi_core::{Input, Policies, Time, Trace};
use anyhow::Context as _;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::clock::STEP_MAX;
use super::ledger::Ledger;
use super::retention::RetentionClock;
use super::shard::Shard;
use super::{Clock, ClockJump, EngineEvent, EngineHandle, TaskFailure};
use crate::journal::{DamagedRecord, Journal, LostRecords, Recovered, RecoveredFrom, ShardState, recover};
use crate::keeper::Keeper;
use crate::learnt;
use crate::ports::{ModelClient, OldRecords, Platform, StoreFiles, Stores};
use crate::stores::{StoreError, StoreSettings, wait_until_available};
use crate::tools::Toolset;

/// What all engines have in common.
pub struct RuntimeContext {
    pub clock: Clock,
    pub models: Arc<dyn ModelClient>,
    /// Who keeps what is remembered for long; none where nothing is.
    pub keeper: Option<Arc<Keeper>>,
    /// What a model may use while it writes.
    pub tools: Toolset,
    pub platforms: Vec<Arc<dyn Platform>>,
    /// Watchers; slow ones miss something.
    pub events: broadcast::Sender<EngineEvent>,
    /// Whether what happens can be written down at the moment.
    pub ready: watch::Sender<bool>,
    /// How long what happens is kept.
    pub store: StoreSettings,
}

impl RuntimeContext {
    pub fn platform(&self, room: &str) -> Option<&Arc<dyn Platform>> {
        let (name, _) = room.split_once(':')?;
        self.platforms.iter().find(|platform| platform.name() == name)
    }
}

/// What every shard is given.
pub struct ShardParts {
    pub journal: Journal,
    pub context: Arc<RuntimeContext>,
    pub ledger: Arc<Ledger>,
    pub siblings: Arc<Mutex<Siblings>>,
    pub snapshots: watch::Sender<()>,
    pub stop: CancellationToken,
}

/// The engines, running.
pub struct Runtime {
    pub engine: EngineHandle,
    /// By which what is old is deleted.
    pub retention_clock: RetentionClock,
    shards: JoinSet<Result<(), StoreError>>,
    /// What must go on and did not.
    failures: mpsc::UnboundedReceiver<TaskFailure>,
    ready: watch::Sender<bool>,
    stop: CancellationToken,
    /// Notes that the program runs; the last time when it stops.
    noting: AbortOnDropHandle<()>,
    last_note: (Journal, Clock),
}

/// How often the journal is swept.
const SWEEP_EVERY: Duration = Duration::from_secs(3600);
/// For the snapshots that are taken before.
const SNAPSHOT_WITHIN: Duration = Duration::from_secs(60);

impl Runtime {
    pub async fn start(
        stores: impl Into<Stores>,
        policies: Policies,
        context: Arc<RuntimeContext>,
    ) -> anyhow::Result<Runtime> {
        let stores = stores.into();
        let journal = Journal::new(stores.clone());
        let settings = policies.general().settings.clone();
        let count = settings.runtime.shards as usize;
        let recovered = recover_engines(&stores, &journal, &policies, count).await?;
        let ran_until = journal.ran_until().await?.unwrap_or_default().max(recovered.last_at);
        let openings = first_inputs(&recovered, &policies, note_clock(&context.clock, ran_until));
        let retention_clock = RetentionClock::start(context.clock, ran_until);
        let ledger = Arc::new(Ledger::new(&recovered.engines, &policies));
        let mut siblings = Siblings::default();
        recovered.engines.iter().for_each(|engine| siblings.take_over(engine));
        let siblings = Arc::new(Mutex::new(siblings));
        let stop = CancellationToken::new();
        let (mut inboxes, mut shards) = (Vec::new(), JoinSet::new());
        let (snapshots, _) = watch::channel(());
        for (number, engine) in recovered.engines.into_iter().enumerate() {
            // Half of it as it came, half of it in the order in which it is handled.
            let (inbox, heard) = mpsc::channel((settings.runtime.inbox_max as usize).div_ceil(2));
            inboxes.push(inbox);
            let shared = ShardParts {
                journal: journal.clone(),
                context: context.clone(),
                ledger: ledger.clone(),
                siblings: siblings.clone(),
                snapshots: snapshots.clone(),
                stop: stop.clone(),
            };
            let shard = Shard::new(number, engine, heard, shared);
            shards.spawn(shard.run(recovered.last_at, recovered.last_seq, openings.clone()));
        }
        let keep = Duration::from_secs(u64::from(context.store.keep_days) * 24 * 3600);
        let (report, failures) = mpsc::unbounded_channel();
        let ready = context.ready.clone();
        let engine = EngineHandle::new(inboxes, report).with_aliases(&settings).with_ledger(ledger);
        if let Some(keeper) = &context.keeper {
            keeper.connect(engine.clone());
        }
        let clock = context.clock.watch_over();
        tokio::spawn(engine.clone().supervise("the clock watcher", stop.clone(), clock));
        let noting = AbortOnDropHandle::new(tokio::spawn(note_running(journal.clone(), context.clock)));
        let last_note = (journal.clone(), context.clock);
        let sweeping =
            sweep(journal, context, policies, Retention { keep, clock: retention_clock }, snapshots, stop.clone());
        tokio::spawn(engine.clone().supervise("the journal cleanup", stop.clone(), sweeping));
        let watching = watch_store(stores.files, stop.clone());
        tokio::spawn(engine.clone().supervise("the store watcher", stop.clone(), watching));
        Ok(Runtime { engine, retention_clock, shards, failures, ready, stop, noting, last_note })
    }

    /// Returns when something ended that must not end before the program does, a shard above all: then nobody is heard any
    /// more, and the program should end too. What is recorded is safe, and the next start goes on from there.
    pub async fn failed(&mut self) -> TaskFailure {
        let failure = tokio::select! {
            Some(ended) = self.shards.join_next() => TaskFailure::of_shard(ended),
            Some(failure) = self.failures.recv() => failure,
        };
        self.ready.send_replace(false);
        failure
    }

    /// In-flight posts finish, the state is written down; everything else is resumed at the next start.
    pub async fn stop(mut self) {
        self.stop.cancel();
        while let Some(ended) = self.shards.join_next().await {
            match ended {
                Ok(Ok(())) => (),
                failed => tracing::error!("{}", TaskFailure::of_shard(failed)),
            }
        }
        drop(self.noting);
        let (journal, clock) = self.last_note;
        journal.note_running(clock.now()).await;
    }
}

/// Brings the engines back to where they were, and the store to where they are.
pub async fn recover_engines(
    stores: &Stores,
    journal: &Journal,
    policies: &Policies,
    shards: usize,
) -> anyhow::Result<Recovered> {
    let recovering = recover(stores, policies, shards).await;
    let mut found =
        recovering.with_context(|| format!("cannot recover from the journal: {}", LostRecords::DAMAGED_ADVICE))?;
    for missing in &found.missing_models {
        tracing::warn!("{missing}; its records since the last snapshot are handled by the built-in one");
    }
    for damaged in &found.damaged {
        tracing::warn!("{damaged}");
        if let DamagedRecord::Torn { seq, .. } = damaged {
            wait_until_available(async || journal.drop_torn(*seq).await).await?;
        }
    }
    let decided: Arc<[Trace]> = std::mem::take(&mut found.traces).into();
    wait_until_available(async || journal.keep(decided.clone()).await).await?;
    if found.from != RecoveredFrom::Snapshots {
        // Before anything happens: from here on the records are those of this many shards.
        let states = || {
            let engines = found.engines.iter().enumerate();
            engines
                .map(|(shard, engine)| ShardState { shards, ..ShardState::of(shard, found.last_at, engine) })
                .collect()
        };
        wait_until_available(async || journal.replace_snapshots(states()).await).await?;
    }
    let rooms: usize = found.engines.iter().map(|engine| engine.room_count()).sum();
    match &found.from {
        RecoveredFrom::UnusableSnapshots(reason) => {
            let advice = "the state was rebuilt from the journal; nothing is lost";
            tracing::warn!(reason, records = found.records, rooms, "cannot use the snapshots: {advice}");
        }
        from @ (RecoveredFrom::Journal | RecoveredFrom::Snapshots | RecoveredFrom::OtherShards) => {
            tracing::info!(records = found.records, ?from, rooms, "recovered from the journal");
        }
    }
    Ok(found)
}

/// How often it is noted that the program runs.
const NOTE_EVERY: Duration = Duration::from_secs(60);

/// Until it is dropped.
async fn note_running(journal: Journal, clock: Clock) {
    loop {
        journal.note_running(clock.now()).await;
        tokio::time::sleep(NOTE_EVERY).await;
    }
}

/// What was written down last may lie ahead of a clock that was set back while nobody looked.
fn note_clock(clock: &Clock, last_at: Time) -> Option<ClockShift> {
    clock.note_return();
    let now = clock.now();
    let by = (last_at.since(now) > STEP_MAX).then(|| ClockShift::between(last_at, now))?;
    clock.note_jump(ClockJump { at: now, by });
    Some(by)
}

/// The first inputs of every engine.
fn first_inputs(recovered: &Recovered, policies: &Policies, set: Option<ClockShift>) -> Vec<Input> {
    let stated = policies.stated();
    let changed = recovered.policies.as_ref() != Some(&stated);
    let change = changed.then(|| Input::PolicyChanged(Box::new(stated)));
    let resumes = recovered.engines.iter().any(|engine| engine.room_count() > 0);
    // The settings come first: they tell which engine has which rooms.
    change.into_iter().chain(set.map(Input::ClockSet)).chain(resumes.then_some(Input::Resumed)).collect()
}

/// How often it is checked whether the store is still where it was.
const WATCH_EVERY: Duration = Duration::from_secs(5);

/// A deleted database is noticed also while nobody speaks.
async fn watch_store(files: Arc<dyn StoreFiles>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(WATCH_EVERY) => (),
        }
        if let Err(error) = files.check().await {
            tracing::debug!(%error, "the store cannot be written");
        }
    }
}

/// Memory handles a deletion first: once the record is empty, nothing else shows what was deleted.
async fn drop_deleted(
    journal: &Journal,
    context: &RuntimeContext,
    old: OldRecords,
    policies: &Policies,
) -> Result<usize, StoreError> {
    if let Some(keeper) = &context.keeper {
        keeper.catch_up().await?;
    }
    journal.drop_deleted(old, policies).await
}

/// How long records are kept.
pub struct Retention {
    pub keep: Duration,
    pub clock: RetentionClock,
}

/// Lets go of what is older than it should be, now and then.
pub async fn sweep(
    journal: Journal,
    context: Arc<RuntimeContext>,
    policies: Policies,
    Retention { keep, clock }: Retention,
    snapshots: watch::Sender<()>,
    stop: CancellationToken,
) {
    loop {
        let old = OldRecords { before: clock.now() - Span(keep.as_millis() as u64), after: clock.latest() };
        // Settings may have changed since, and with them the model.
        let now = context.keeper.as_ref().map(|keeper| keeper.policies());
        let policies = now.map_or_else(|| policies.clone(), |now| (*now).clone());
        let policies = learnt::with_kept(Path::new(&context.store.folder), policies);
        let hours = Span::minutes(60 * u64::from(context.store.deleted_hours));
        let now = context.clock.now();
        match drop_deleted(&journal, &context, OldRecords::by_clock(now - hours, now), &policies).await {
            Ok(0) => (),
            Ok(records) => tracing::info!(records, "removed deleted and edited words from the journal"),
            Err(error) => tracing::warn!(%error, "cannot remove deleted and edited words from the journal"),
        }
        if let Some(keeper) = &context.keeper {
            keeper.drop_opted_out(&journal, context.clock.now(), &policies).await;
        }
        match journal.prune(old, &policies).await {
            Ok(0) => (),
            Ok(records) => tracing::info!(records, "removed old journal records"),
            Err(error) => tracing::warn!(%error, "cannot remove old journal records"),
        }
        let wait = async {
            tokio::time::sleep(SWEEP_EVERY).await;
            // Words leave the journal once snapshots hold what a start needs, also where little is said.
            snapshots.send_replace(());
            tokio::time::sleep(SNAPSHOT_WITHIN).await;
        };
        tokio::select! {
            () = stop.cancelled() => return,
            () = wait => (),
        }
    }
}
