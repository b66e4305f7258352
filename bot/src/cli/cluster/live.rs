//! One process of a cluster: it serves Restate, runs the platforms, or does both.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::Policies;
use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::ClusterRole;
use super::watch::{show_notices, take_noted, watch_stuck};
use crate::cli::join;
use crate::cli::reload::{HangupSignal, Reload};
use crate::cli::run::{EVENTS_MAX, EffectiveSettings, PRESET_REQUESTS_MAX, RunComponents, all_end, variable};
use crate::cli::settings::SettingsArguments;
use crate::cli::stop_signals::StopSignals;
use crate::cli::welcome::welcome;
use crate::cli::{logs, store, web_link};
use crate::cluster::{
    ClusterContext, ClusterSettings, Gateway, HealthChecks, RestateClient, offer_rooms, serve, serve_health,
    take_over_rooms,
};
use crate::commands::CommandRunner;
use crate::config;
use crate::console::metrics;
use crate::journal::{Journal, Traces};
use crate::learnt;
use crate::platforms::web::{WebServices, check_address};
use crate::ports::{ClusterStore, Commands, ShardClaims, StoreBackend};
use crate::runtime::{Clock, EngineEvent, EngineHandle, Retention, RetentionClock, sweep};
use crate::schedule::{self, ScheduleSettings};
use crate::stores::postgres::{ClusterSession, PgShardClaims, PgTarget, PostgresDatabase, while_held};
use crate::stores::wait_until_available;

/// What one process does for all: memory follows the journal, and schedules are kept.
pub const LEADER: &str = "leader";
/// How long to wait before a worker is made known again to a server that does not answer.
const REGISTER_AGAIN: Duration = Duration::from_secs(2);

pub fn run(settings: &SettingsArguments, role: ClusterRole, may_open_browser: bool) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start worker threads")?;
    let chosen = runtime.block_on(EffectiveSettings::read(settings, None))?;
    logs::start(&config::section(&chosen.layers)?)?;
    if role.gateway {
        check_address(&chosen.layers)?;
        join::somewhere(&chosen.layers, &variable)?;
    }
    std::fs::create_dir_all(&chosen.store.folder)
        .with_context(|| format!("cannot create the data folder {} (setting store.folder)", chosen.store.folder))?;
    let lived = runtime.block_on(live(settings, chosen, role, may_open_browser));
    runtime.shutdown_background();
    lived
}

/// A process that is being put together.
struct ClusterProcess {
    parts: RunComponents,
    cluster: Arc<ClusterContext>,
    database: Arc<PostgresDatabase>,
    restate: RestateClient,
    session: ClusterSession,
    engine: EngineHandle,
    stop: CancellationToken,
}

async fn live(
    arguments: &SettingsArguments,
    chosen: EffectiveSettings,
    role: ClusterRole,
    may_open_browser: bool,
) -> anyhow::Result<()> {
    let (mut stopping, hangup) = (StopSignals::new()?, HangupSignal::new()?);
    let location = store::location_of(&chosen.store)?;
    let (database, target) = tokio::select! {
        opened = wait_until_available(async || location.open_among_others().await) => opened?,
        () = stopping.wait() => return Ok(()),
    };
    let ((events, watched), (ready, is_ready)) = (broadcast::channel(EVENTS_MAX), watch::channel(true));
    let (report, mut failures) = mpsc::unbounded_channel();
    let (inbox, heard) = mpsc::channel(chosen.settings().runtime.inbox_max as usize);
    let engine = EngineHandle::new(vec![inbox], report);
    let process = ClusterProcess::new(role, &chosen, (database, target), (events.clone(), ready), engine).await?;
    let (stop, engine) = (process.stop.clone(), process.engine.clone());
    let gateway = Gateway::new(
        process.cluster.clone(),
        process.restate.clone(),
        Journal::new(process.database.stores()),
        process_name(),
    );
    let telling = tokio::spawn(Arc::new(gateway).run(heard, stop.clone()));
    let mut tasks = JoinSet::new();
    let section: ClusterSettings = config::section(&chosen.layers)?;
    let alert = process.watch_health(&section, &mut tasks).await?;
    if role.worker {
        process.serve(&section, &mut tasks).await?;
    }
    let (preset_requests, wished) = mpsc::channel(PRESET_REQUESTS_MAX);
    let traces = Traces::new(process.database.stores());
    let commands =
        CommandRunner::new(engine.clone(), traces.clone(), Clock::Wall, chosen.introduction(), preset_requests);
    let commands = Arc::new(commands.remembering(process.parts.keeper.clone(), process.parts.platforms.clone()));
    process.lead(&chosen, &mut tasks)?;
    if role.gateway {
        let show = PageSources { traces, events, watched, is_ready, alert };
        process.open_gateway(&chosen, &commands, show, may_open_browser, &mut tasks).await?;
    } else {
        crate::cli::print(&format!("worker: {}\nPress Ctrl-C to stop.\n", chosen.choice.told))?;
    }
    let following = process.follow_settings();
    let (cluster, until) = (process.cluster.clone(), stop.clone());
    tasks.spawn(async move { cluster.follow_spending(until).await });
    let tools = process.parts.tools.clone();
    let reload = Reload {
        arguments,
        holds: chosen,
        models: process.parts.models.clone(),
        web: process.parts.web.clone(),
        commands,
        keeper: process.parts.keeper.clone(),
        engine,
    };
    let failed = tokio::select! {
        () = stopping.wait() => None,
        Some(failure) = failures.recv() => Some(failure),
        () = reload.at_every(hangup, wished) => None,
        () = following => None,
    };
    stop.cancel();
    tokio::select! {
        () = async {
            let _ = telling.await;
            tools.stop().await;
            all_end(&mut tasks).await;
        } => (),
        () = stopping.wait() => (),
    }
    failed.map_or(Ok(()), |failure| Err(failure).context("stopped; start it again"))
}

/// What pages are shown.
struct PageSources {
    traces: Traces,
    events: broadcast::Sender<EngineEvent>,
    watched: broadcast::Receiver<EngineEvent>,
    is_ready: watch::Receiver<bool>,
    alert: watch::Receiver<String>,
}

impl ClusterProcess {
    async fn new(
        role: ClusterRole,
        chosen: &EffectiveSettings,
        (database, target): (Arc<PostgresDatabase>, PgTarget),
        (events, ready): (broadcast::Sender<EngineEvent>, watch::Sender<bool>),
        engine: EngineHandle,
    ) -> anyhow::Result<ClusterProcess> {
        let section: ClusterSettings = config::section(&chosen.layers)?;
        let restate = RestateClient::new(&section.ingress, &section.admin)?;
        let parts = RunComponents::new(chosen, &*database).await?;
        let context = Arc::new(parts.context(events, ready, chosen));
        let policies = learnt::kept_in(Path::new(&chosen.store.folder), &chosen.policies)?;
        offer_rooms(&database.stores(), &*database, &policies).await?;
        let shared: Arc<dyn ClusterStore> = database.clone();
        let cluster = Arc::new(ClusterContext::new(context, shared, policies).await?);
        let engine = engine.with_aliases(chosen.settings()).with_ledger(cluster.ledger.clone());
        parts.keeper.connect(engine.clone());
        parts.keeper.count(false).await;
        let (stop, mut locks) = (CancellationToken::new(), vec![LEADER]);
        for name in parts.joined.names().into_iter().filter(|_| role.gateway) {
            let claims: Arc<dyn ShardClaims> = Arc::new(PgShardClaims::start(target.clone(), name, stop.clone()));
            if !parts.joined.share(name, &claims) {
                locks.push(name);
            }
        }
        let session = ClusterSession::start(target, &locks, stop.clone());
        Ok(ClusterProcess { parts, cluster, database, restate, session, engine, stop })
    }

    /// Listens for Restate, and makes that known to it.
    async fn serve(&self, section: &ClusterSettings, tasks: &mut JoinSet<()>) -> anyhow::Result<()> {
        let listener = TcpListener::bind(&section.listen)
            .await
            .with_context(|| format!("cannot listen on {} (setting cluster.listen)", section.listen))?;
        let address = listener.local_addr().context("a bound port has an address")?;
        tasks.spawn(serve(listener, self.cluster.clone(), self.stop.clone()));
        tracing::info!(%address, "worker listening for Restate");
        tasks.spawn(take_noted(self.parts.keeper.clone(), self.stop.clone()));
        let (cluster, stop) = (self.cluster.clone(), self.stop.clone());
        tasks.spawn(async move { cluster.share_siblings(stop).await });
        let url = worker_url(section, address);
        let (restate, stop) = (self.restate.clone(), self.stop.clone());
        tasks.spawn(async move {
            loop {
                match restate.introduce(&url).await {
                    Ok(deployment) => {
                        tracing::info!(url, deployment = deployment.id, "Restate knows this worker");
                        return;
                    }
                    Err(error) => tracing::warn!(%error, url, "cannot make the worker known to Restate; retrying"),
                }
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(REGISTER_AGAIN) => (),
                }
            }
        });
        Ok(())
    }

    /// Watches for rooms that cannot go on, and serves health checks where the settings say. Returns what `/ready` is to show.
    async fn watch_health(
        &self,
        section: &ClusterSettings,
        tasks: &mut JoinSet<()>,
    ) -> anyhow::Result<watch::Receiver<String>> {
        let (raise, alert) = watch::channel(String::new());
        tasks.spawn(watch_stuck(self.restate.clone(), raise, self.stop.clone()));
        let metrics = metrics::install();
        if !section.health.is_empty() {
            let listener = TcpListener::bind(&section.health)
                .await
                .with_context(|| format!("cannot listen on {} (setting cluster.health)", section.health))?;
            let checks = HealthChecks { files: self.database.stores().files, alert: alert.clone(), metrics };
            tasks.spawn(serve_health(listener, checks, self.stop.clone()));
        }
        Ok(alert)
    }

    /// Opens the web room and the platforms.
    async fn open_gateway(
        &self,
        chosen: &EffectiveSettings,
        commands: &Arc<CommandRunner>,
        show: PageSources,
        may_open_browser: bool,
        tasks: &mut JoinSet<()>,
    ) -> anyhow::Result<()> {
        let PageSources { traces, events, watched, is_ready, alert } = show;
        let services = || WebServices {
            engine: self.engine.clone(),
            traces: traces.clone(),
            commands: commands.clone(),
            keeper: Some(self.parts.keeper.clone()),
            events: watched,
            metrics: metrics::install(),
            ready: is_ready,
            alert,
            beside: self.parts.joined.platforms(),
            stop: self.stop.clone(),
        };
        let serving = self.parts.open_room(services).await?;
        self.show_pages(events, traces.clone(), tasks);
        self.join_platforms(commands, tasks);
        let address = serving.as_ref().map(|(address, _)| web_link::address_of(*address));
        welcome(chosen, &self.parts.joined, address.as_deref(), &self.parts.web_settings, may_open_browser);
        if let Some((_, serving)) = serving {
            tasks.spawn(async move { drop(serving.await) });
        }
        Ok(())
    }

    /// What one process does for all, as long as it is this one.
    fn lead(&self, chosen: &EffectiveSettings, tasks: &mut JoinSet<()>) -> anyhow::Result<()> {
        let (keeper, engine, platforms) =
            (self.parts.keeper.clone(), self.engine.clone(), self.parts.platforms.clone());
        let schedules: BTreeMap<String, ScheduleSettings> = config::family(&chosen.layers)?;
        let (cluster, journal) = (self.cluster.clone(), Journal::new(self.database.stores()));
        let (database, restate) = (self.database.clone(), self.restate.clone());
        let leading = move |until: CancellationToken| {
            let (keeper, engine, platforms) = (keeper.clone(), engine.clone(), platforms.clone());
            let (schedules, policies) = (schedules.clone(), cluster.policies().policies.clone());
            let (journal, runtime) = (journal.clone(), cluster.runtime.clone());
            let (database, restate) = (database.clone(), restate.clone());
            async move {
                keeper.count(true).await;
                let taking_over = take_over_rooms(&*database, &restate, Clock::Wall, until.clone());
                let ran_until = journal.last_at().await.ok().flatten().unwrap_or_default();
                let clock = RetentionClock::start(Clock::Wall, ran_until);
                let watching = keeper.clone().watch(engine.clone(), clock, until.clone());
                let forgetting = keeper.clone().end_forgetting(engine.clone(), platforms, until.clone());
                let keep = Duration::from_secs(u64::from(runtime.store.keep_days) * 24 * 3600);
                // There are no snapshots to wait for.
                let (snapshots, _) = watch::channel(());
                let retention = Retention { keep, clock };
                let sweeping = sweep(journal, runtime, (*policies).clone(), retention, snapshots, until.clone());
                let scheduling = schedule::run(schedules, policies, engine, Clock::Wall, until);
                tokio::join!(taking_over, watching, forgetting, sweeping, scheduling);
                keeper.count(false).await;
            }
        };
        let lock = self.session.lock(LEADER).expect("every process wants to lead");
        tasks.spawn(while_held(lock, self.stop.clone(), leading));
        Ok(())
    }

    /// A platform with one connection is held by one process, and another one takes over when that ends. One with several is shared by all.
    fn join_platforms(&self, commands: &Arc<CommandRunner>, tasks: &mut JoinSet<()>) {
        let commands: Arc<dyn Commands> = commands.clone();
        for name in self.parts.joined.names() {
            let (joined, engine, commands) = (self.parts.joined.only(name), self.engine.clone(), commands.clone());
            let listening = move |until: CancellationToken| {
                let mut tasks = joined.listen(&engine, &commands, &until);
                async move { all_end(&mut tasks).await }
            };
            match self.session.lock(name) {
                Some(lock) => tasks.spawn(while_held(lock, self.stop.clone(), listening)),
                None => tasks.spawn(listening(self.stop.clone())),
            };
        }
    }

    /// Pages see what any process did.
    fn show_pages(&self, events: broadcast::Sender<EngineEvent>, traces: Traces, tasks: &mut JoinSet<()>) {
        let Some(web) = self.parts.web.clone() else { return };
        let (notices, engine, stop) = (self.session.notices(), self.engine.clone(), self.stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => (),
                () = show_notices(notices, &web, &events, &traces, &engine) => (),
            }
        });
    }

    /// Settings that another process was given hold here too.
    fn follow_settings(&self) -> impl Future<Output = ()> + use<> {
        let (cluster, stop, keeper, engine) =
            (self.cluster.clone(), self.stop.clone(), self.parts.keeper.clone(), self.engine.clone());
        async move {
            let changed = |policies: &Policies| {
                keeper.set_policies(policies);
                drop(engine.clone().with_aliases(&policies.general().settings));
            };
            cluster.follow_settings(stop, changed).await;
        }
    }
}

/// No other process has it, now or before.
fn process_name() -> String {
    let (now, id) = (jiff::Timestamp::now().as_microsecond(), std::process::id());
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), now);
    format!("{now}-{id}-{random:x}")
}

fn worker_url(section: &ClusterSettings, address: SocketAddr) -> String {
    match &*section.worker_url {
        "" => format!("http://{address}"),
        url => url.to_owned(),
    }
}
