//! One process of a cluster: it serves Restate, runs the platforms, or does both.

use std::collections::BTreeMap;
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
use super::watch::{show_notices, take_noted, watch_trouble};
use crate::cli::effective_settings::EffectiveSettings;
use crate::cli::join;
use crate::cli::reload::{HangupSignal, Reload, SettingsUsers};
use crate::cli::rooms::{self, RoomPresets};
use crate::cli::run::{EVENTS_MAX, PRESET_REQUESTS_MAX, RunComponents, all_end, variable};
use crate::cli::settings::SettingsArguments;
use crate::cli::stop_signals::StopSignals;
use crate::cli::welcome::welcome;
use crate::cli::{logs, store, web_link};
use crate::cluster::{
    ClusterContext, ClusterSettings, Gateway, HealthChecks, RecordedMessages, RestateClient, offer_rooms,
    refuse_strangers, serve, serve_health, take_over_rooms, until_refused, without_login,
};
use crate::commands::{BotInfo, CommandRunner};
use crate::config;
use crate::console::metrics;
use crate::journal::{Journal, Traces};
use crate::learnt;
use crate::platforms::web::{WebServices, check_address};
use crate::ports::{ClusterStore, Commands, PlatformStores, ShardClaims, StoreBackend};
use crate::runtime::{Clock, EngineEvent, EngineHandle, Retention, RetentionClock, sweep};
use crate::schedule::{self, ScheduleSettings};
use crate::stores::postgres::{ClusterSession, PgShardClaims, PgTarget, PostgresDatabase, while_held};
use crate::stores::wait_until_available;

/// What one process does for all: memory follows the journal, and schedules are kept.
pub const LEADER: &str = "leader";
/// What some gateway holds as long as there is one.
pub const GATEWAY: &str = "gateway";
/// How long to wait before a worker is made known again to a server that does not answer.
const REGISTER_AGAIN: Duration = Duration::from_secs(2);

pub fn run(settings: &SettingsArguments, role: ClusterRole, may_open_browser: bool) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start worker threads")?;
    let chosen = runtime.block_on(EffectiveSettings::read(settings, None, &RoomPresets::File))?;
    logs::start(&config::section(&chosen.layers)?)?;
    chosen.log_renamed();
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
    database.take_over_presets(rooms::in_file(Path::new(&chosen.store.folder))?).await?;
    let presets = RoomPresets::Shared(database.clone());
    let chosen = EffectiveSettings::read(arguments, chosen.choice.local.as_ref(), &presets).await?;
    let ((events, watched), (ready, is_ready)) = (broadcast::channel(EVENTS_MAX), watch::channel(true));
    let (report, mut failures) = mpsc::unbounded_channel();
    let (inbox, heard) = mpsc::channel(chosen.settings().runtime.inbox_max as usize);
    let engine = EngineHandle::new(vec![inbox], report);
    let process = tokio::select! {
        made = ClusterProcess::new(role, &chosen, (database, target), (events.clone(), ready), engine) => made?,
        () = stopping.wait() => return Ok(()),
    };
    let stop = process.stop.clone();
    let telling = Arc::new(process.gateway()).run(heard, stop.clone());
    let telling = tokio::spawn(process.engine.clone().supervise("the gateway", stop.clone(), telling));
    let mut tasks = JoinSet::new();
    let section: ClusterSettings = config::section(&chosen.layers)?;
    let alert = process.watch_health(&section, &mut tasks).await?;
    if role.worker {
        process.serve(&section, &mut tasks).await?;
    }
    let (preset_requests, wished) = mpsc::channel(PRESET_REQUESTS_MAX);
    let traces = Traces::new(process.database.stores());
    let commands =
        CommandRunner::new(process.engine.clone(), traces.clone(), Clock::Wall, chosen.introduction(), preset_requests);
    let commands = Arc::new(commands.remembering(process.parts.keeper.clone(), process.parts.platforms.clone()));
    process.lead(&chosen, &mut tasks)?;
    if role.gateway {
        let show = PageSources { traces, events, watched, is_ready, alert };
        process.open_gateway(&chosen, &commands, show, may_open_browser, &mut tasks).await?;
    } else {
        crate::cli::print(&format!("worker: {}\nPress Ctrl-C to stop.\n", chosen.choice.told))?;
    }
    let (cluster, until) = (process.cluster.clone(), stop.clone());
    tasks.spawn(async move { cluster.poll_spending(until).await });
    let tools = process.parts.tools.clone();
    let users = process.parts.settings_users(commands, process.engine.clone());
    let adopting = process.adopt_shared_settings(arguments, chosen.introduction(), presets.clone(), users.clone());
    let cluster = Some(process.cluster.clone());
    let reload = Reload { arguments, holds: chosen, presets, users, cluster };
    let failed = tokio::select! {
        () = stopping.wait() => None,
        Some(failure) = failures.recv() => Some(anyhow::Error::from(failure).context("stopped; start it again")),
        refused = until_refused(&*process.database, &process.restate) => Some(refused),
        () = reload.at_every(hangup, wished) => None,
        () = adopting => None,
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
    failed.map_or(Ok(()), Err)
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
        let restate = section.restate()?;
        let stores = database.platform_stores();
        let recent = Arc::new(RecordedMessages { records: stores.recent.clone(), restate: restate.clone() });
        let parts = RunComponents::new(chosen, &*database, PlatformStores { recent, ..stores }).await?;
        let context = Arc::new(parts.context(events, ready, chosen));
        let policies = learnt::kept_in(Path::new(&chosen.store.folder), &chosen.policies)?;
        offer_rooms(&database.stores(), &*database, &restate, &policies).await?;
        refuse_strangers(&*database, &restate).await?;
        let shared: Arc<dyn ClusterStore> = database.clone();
        let cluster = Arc::new(ClusterContext::new(context, shared, policies).await?);
        let engine = engine.with_aliases(chosen.settings()).with_ledger(cluster.ledger.clone());
        parts.keeper.connect(engine.clone());
        parts.keeper.count(false).await;
        let (stop, mut locks) = (CancellationToken::new(), vec![LEADER]);
        locks.extend(role.gateway.then_some(GATEWAY));
        for name in parts.joined.names().into_iter().filter(|_| role.gateway) {
            let claims: Arc<dyn ShardClaims> = Arc::new(PgShardClaims::start(target.clone(), name, stop.clone()));
            if !parts.joined.share(name, &claims) {
                locks.push(name);
            }
        }
        let session = ClusterSession::start(target, &locks, stop.clone());
        if let Some(web) = &parts.web {
            web.share(Arc::new(session.page_notices()));
        }
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
        let url = section.url_of_worker(address);
        let shown = without_login(&url);
        let (restate, stop) = (self.restate.clone(), self.stop.clone());
        tasks.spawn(async move {
            loop {
                match restate.introduce(&url).await {
                    Ok(deployment) => {
                        tracing::info!(url = shown, deployment = deployment.id, "registered the worker with Restate");
                        return;
                    }
                    Err(error) => {
                        tracing::warn!(%error, url = shown, "cannot register the worker with Restate; retrying")
                    }
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
        let store: Arc<dyn ClusterStore> = self.database.clone();
        tasks.spawn(watch_trouble(self.restate.clone(), store, raise, self.stop.clone()));
        let metrics = metrics::install();
        if !section.health.is_empty() {
            let listener = TcpListener::bind(&section.health)
                .await
                .with_context(|| format!("cannot listen on {} (setting cluster.health)", section.health))?;
            let checks = HealthChecks { stores: self.database.stores(), alert: alert.clone(), metrics };
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
            not_ready: "Restate does not answer (setting cluster.ingress); see the log",
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
        let leading = move |until: CancellationToken, _| {
            let (keeper, engine, platforms) = (keeper.clone(), engine.clone(), platforms.clone());
            let (schedules, policies) = (schedules.clone(), cluster.policies().policies.clone());
            let current = cluster.clone();
            let current = move || current.policies().policies.clone();
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
                let scheduling = schedule::run(schedules, current, engine, Clock::Wall, until);
                tokio::join!(taking_over, watching, forgetting, sweeping, scheduling);
                keeper.count(false).await;
            }
        };
        let lock = self.session.lock(LEADER).expect("every process wants to lead");
        tasks.spawn(while_held(lock, self.stop.clone(), leading));
        Ok(())
    }

    /// A platform with one connection is held by one process, and another one takes over when that ends. One with several is shared by all.
    /// A platform that refuses this process is tried again with other tokens.
    fn join_platforms(&self, commands: &Arc<CommandRunner>, tasks: &mut JoinSet<()>) {
        let commands: Arc<dyn Commands> = commands.clone();
        for name in self.parts.joined.names() {
            let (joined, engine, commands) = (self.parts.joined.only(name), self.engine.clone(), commands.clone());
            let (lock, stop, mut other_tokens) = (self.session.lock(name), self.stop.clone(), joined.other_tokens());
            tasks.spawn(async move {
                let listening =
                    |until, tenure| joined.listen_once(engine.clone().within(tenure), commands.clone(), until);
                loop {
                    other_tokens.mark_unchanged();
                    match &lock {
                        Some(lock) => {
                            while_held(lock.wanted(), stop.clone(), |until, tenure| listening(until, Some(tenure)))
                                .await
                        }
                        // Its shares have a tenure of their own.
                        None => listening(stop.clone(), None).await,
                    }
                    tokio::select! {
                        _ = other_tokens.changed() => (),
                        () = stop.cancelled() => return,
                    }
                }
            });
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

    /// What hands on what platforms tell.
    fn gateway(&self) -> Gateway {
        let (context, restate, journal) =
            (self.cluster.clone(), self.restate.clone(), Journal::new(self.database.stores()));
        Gateway::new(context, restate, journal, process_name(), self.session.gateway_number())
    }

    /// Settings that another process was given hold here too. `bot` is how it introduces itself by its own.
    async fn adopt_shared_settings(
        &self,
        arguments: &SettingsArguments,
        bot: BotInfo,
        presets: RoomPresets,
        users: SettingsUsers,
    ) {
        let changed = async |policies: &Policies| {
            if let Err(error) = users.models.expect(policies, &variable) {
                let error = format!("{error:#}");
                tracing::error!(error, "cannot use a model of the new settings in this process");
            }
            let bot = match rooms::layers_with(arguments, &presets).await {
                Ok((layers, _)) => bot.clone().under(policies, &layers),
                Err(error) => {
                    tracing::warn!(error = format!("{error:#}"), "cannot read which room has which preset");
                    bot.clone()
                }
            };
            users.adopt(policies, bot);
        };
        self.cluster.poll_settings(self.stop.clone(), changed).await;
    }
}

/// No other process has it, now or before.
fn process_name() -> String {
    let (now, id) = (jiff::Timestamp::now().as_microsecond(), std::process::id());
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), now);
    format!("{now}-{id}-{random:x}")
}
