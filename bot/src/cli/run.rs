//! `aizuchi run`: takes part. Everything is put together here, and taken apart when it has to stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::effective_settings::EffectiveSettings;
use super::join::{self, JoinedPlatforms};
use super::logs::{self, LogSettings};
use super::reload::{HangupSignal, Reload, SettingsUsers};
use super::rooms::RoomPresets;
use super::settings::SettingsArguments;
use super::stop_signals::StopSignals;
use super::store;
use super::web_link;
use super::welcome::welcome;
use crate::commands::CommandRunner;
use crate::config;
use crate::console::metrics;
use crate::journal::{Journal, LostRecords, Traces};
use crate::keeper::Keeper;
use crate::learnt;
use crate::memory::{self, MemoryUser};
use crate::models::{self, LocalModel, Models};
use crate::platforms::web::{STORE_FAILS, Web, WebServices, WebSettings, check_address};
use crate::ports::{Commands, Platform, PlatformStores, StoreBackend, StoreKind};
use crate::prompts::Prompts;
use crate::runtime::{Clock, EngineEvent, EngineHandle, RetentionClock, Runtime, RuntimeContext, TaskFailure};
use crate::schedule;
use crate::stores::{DataFolder, StoreError, StoreLocation, wait_until_available};
use crate::tools::{self, Toolset};

#[derive(Args, Default)]
pub struct RunArguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// Do not open a browser
    #[arg(long)]
    no_browser: bool,
    /// Start even if durable records are missing from the store
    #[arg(long)]
    accept_loss: bool,
    /// Be a worker and a gateway of a cluster in one process
    #[cfg(feature = "cluster")]
    #[arg(long, conflicts_with = "accept_loss")]
    cluster: bool,
}

/// Decisions and changes that a watcher may be behind with.
pub const EVENTS_MAX: usize = 4096;
/// Commands for other settings that may wait.
pub const PRESET_REQUESTS_MAX: usize = 16;

pub fn run(arguments: &RunArguments) -> anyhow::Result<()> {
    #[cfg(feature = "cluster")]
    if arguments.cluster {
        return super::cluster::both(&arguments.settings, !arguments.no_browser);
    }
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start worker threads")?;
    let chosen = runtime.block_on(EffectiveSettings::read(&arguments.settings, None, &RoomPresets::File))?;
    let log: LogSettings = config::section(&chosen.layers)?;
    logs::filter(&log.level).map_err(|what| chosen.mistake("log.level", &log.level, what))?;
    logs::start(&log)?;
    chosen.log_renamed();
    check_address(&chosen.layers)?;
    join::somewhere(&chosen.layers, &variable)?;
    let location = store::location_of(&chosen.store)?;
    let folder = DataFolder::take(location.data_folder())?;
    if let Some(LocalModel { model, server, address, .. }) = &chosen.choice.local {
        tracing::info!(model, server, address, "no key is set; using a model server on this machine");
    }
    let lived = runtime.block_on(live(arguments, chosen, &location, &folder));
    // A second stop does not wait for a slow disk; what must be durable is durable by now.
    runtime.shutdown_background();
    lived
}

/// The environment variable, or else the file that the variable of this name with `_FILE` names: only a file may change while the
/// program runs.
pub fn variable(name: &str) -> Option<String> {
    let set = std::env::var(name).ok().filter(|value| !value.is_empty());
    set.or_else(|| {
        let path = std::env::var(format!("{name}_FILE")).ok().filter(|path| !path.is_empty())?;
        let read = std::fs::read_to_string(&path);
        let read =
            read.inspect_err(|error| tracing::warn!(path, %error, "cannot read the file that {name}_FILE names"));
        read.ok().map(|value| value.trim().to_owned())
    })
}

async fn live(
    arguments: &RunArguments,
    chosen: EffectiveSettings,
    location: &StoreLocation,
    folder: &DataFolder,
) -> anyhow::Result<()> {
    // A stop during the start counts too.
    let (mut stopping, hangup) = (StopSignals::new()?, HangupSignal::new()?);
    let opening = open_store(location, folder, arguments.accept_loss);
    let backend = tokio::select! {
        opened = opening => opened?,
        () = stopping.wait() => return Ok(()),
    };
    let (events, watched) = broadcast::channel(EVENTS_MAX);
    let (ready, is_ready) = watch::channel(true);
    let parts = RunComponents::new(&chosen, &*backend, backend.platform_stores()).await?;
    parts.keeper.accept_lost_records().await.context("cannot check how far memory has read the journal")?;
    let context = parts.context(events, ready, &chosen);
    let policies = learnt::kept_in(Path::new(&chosen.store.folder), &chosen.policies)?;
    let starting = Runtime::start(backend.stores(), policies, Arc::new(context));
    let mut runtime = tokio::select! {
        started = starting => started?,
        () = stopping.wait() => return Ok(()),
    };
    let (stop, (requests, wished)) = (CancellationToken::new(), mpsc::channel(PRESET_REQUESTS_MAX));
    let (engine, traces) = (runtime.engine.clone(), Traces::new(backend.stores()));
    let commands = CommandRunner::new(engine.clone(), traces.clone(), Clock::Wall, chosen.introduction(), requests);
    let commands = Arc::new(commands.remembering(parts.keeper.clone(), parts.platforms.clone()));
    let listening = || WebServices {
        engine: engine.clone(),
        traces,
        commands: commands.clone(),
        keeper: Some(parts.keeper.clone()),
        events: watched,
        metrics: metrics::install(),
        ready: is_ready,
        not_ready: STORE_FAILS,
        alert: watch::channel(String::new()).1,
        beside: parts.joined.platforms(),
        stop: stop.clone(),
    };
    let serving = match parts.open_room(listening).await {
        Ok(serving) => serving,
        Err(error) => {
            runtime.stop().await;
            return Err(error);
        }
    };
    let watching = parts.remember(&engine, runtime.retention_clock, &stop);
    keep_schedules(&chosen, &parts.keeper, &engine, &stop)?;
    let elsewhere = parts.joined.listen(&engine, &(commands.clone() as Arc<dyn Commands>), &stop);
    let address = serving.as_ref().map(|(address, _)| web_link::address_of(*address));
    welcome(&chosen, &parts.joined, address.as_deref(), &parts.web_settings, !arguments.no_browser);
    let (has_room, tools, joined) = (parts.web.is_some(), parts.tools.clone(), parts.joined.clone());
    let reload = Reload {
        arguments: &arguments.settings,
        holds: chosen,
        presets: RoomPresets::File,
        users: parts.settings_users(commands, engine),
        #[cfg(feature = "cluster")]
        cluster: None,
    };
    let ending = tokio::select! {
        () = stopping.wait() => StopReason::Stopped,
        failure = runtime.failed() => StopReason::Failed(failure),
        () = reload.at_every(hangup, wished) => StopReason::Stopped,
        () = joined.all_refused(), if !has_room => StopReason::SentAway,
    };
    ending.announce();
    let mut tasks = (elsewhere, watching, serving.map(|(_, serving)| serving));
    tokio::select! {
        ended = stop_all(runtime, &stop, &mut tasks, &tools) => ended?,
        () = stopping.wait() => (),
    }
    ending.into_result()
}

/// Has the engine know when each schedule of the settings is next.
fn keep_schedules(
    chosen: &EffectiveSettings,
    keeper: &Arc<Keeper>,
    engine: &EngineHandle,
    stop: &CancellationToken,
) -> anyhow::Result<()> {
    let (schedules, keeper) = (config::family(&chosen.layers)?, keeper.clone());
    let policies = move || keeper.policies();
    let scheduling = schedule::run(schedules, policies, engine.clone(), Clock::Wall, stop.clone());
    tokio::spawn(engine.clone().supervise("schedules", stop.clone(), scheduling));
    Ok(())
}

/// The platforms beside the web room, long memory, and the web room.
type Tasks = (JoinSet<()>, JoinHandle<()>, Option<JoinHandle<()>>);

/// Stops everything, the engine first.
async fn stop_all(
    runtime: Runtime,
    stop: &CancellationToken,
    tasks: &mut Tasks,
    tools: &Toolset,
) -> anyhow::Result<()> {
    let (elsewhere, watching, serving) = tasks;
    runtime.stop().await;
    stop.cancel();
    tools.stop().await;
    all_end(elsewhere).await;
    let _ = watching.await;
    match serving {
        Some(serving) => serving.await.context("the web room's server failed"),
        None => Ok(()),
    }
}

/// What a life is made of, before it begins.
pub struct RunComponents {
    pub models: Arc<Models>,
    pub keeper: Arc<Keeper>,
    pub tools: Toolset,
    pub web: Option<Arc<Web>>,
    pub web_settings: WebSettings,
    pub joined: JoinedPlatforms,
    /// All of them, the web room too.
    pub platforms: Vec<Arc<dyn Platform>>,
}

impl RunComponents {
    pub async fn new(
        chosen: &EffectiveSettings,
        backend: &dyn StoreBackend,
        stores: PlatformStores,
    ) -> anyhow::Result<RunComponents> {
        let settings = chosen.settings();
        let prompts = Arc::new(Prompts::new(PathBuf::from(&settings.prompts.folder)));
        let models = Arc::new(Models::new(prompts, &chosen.policies, &variable)?);
        let web_settings: WebSettings = config::section(&chosen.layers)?;
        let open_web = |own| Web::new(own, settings, chosen.introduction(), stores.clone(), Clock::Wall);
        let web = Some(web_settings.clone()).filter(|own| own.enabled).map(open_web);
        let joined = JoinedPlatforms::new(&chosen.layers, settings, stores.clone())?;
        let mut platforms = joined.platforms();
        platforms.extend(web.clone().map(|web| web as Arc<dyn Platform>));
        let keeper = open_keeper(chosen, &models, backend).await?;
        let tools = tools::open(&chosen.layers, Some(&keeper))?;
        Ok(RunComponents { models, keeper, tools, web, web_settings, joined, platforms })
    }

    pub fn context(
        &self,
        events: broadcast::Sender<EngineEvent>,
        ready: watch::Sender<bool>,
        chosen: &EffectiveSettings,
    ) -> RuntimeContext {
        RuntimeContext {
            clock: Clock::Wall,
            models: self.models.clone(),
            keeper: Some(self.keeper.clone()),
            tools: self.tools.clone(),
            platforms: self.platforms.clone(),
            events,
            ready,
            store: chosen.store.clone(),
        }
    }

    /// What goes by the settings of these.
    pub fn settings_users(&self, commands: Arc<CommandRunner>, engine: EngineHandle) -> SettingsUsers {
        let RunComponents { models, web, keeper, joined, .. } = self;
        let (models, web, keeper, joined) = (models.clone(), web.clone(), keeper.clone(), joined.clone());
        SettingsUsers { models, web, joined, commands, keeper, engine }
    }

    /// Opens the web room, if there is one.
    pub async fn open_room(
        &self,
        listening: impl FnOnce() -> WebServices,
    ) -> anyhow::Result<Option<(SocketAddr, JoinHandle<()>)>> {
        match &self.web {
            Some(web) => web.listen(listening()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Has long memory follow what happens, and ends what was to be forgotten. The task of the former.
    fn remember(&self, engine: &EngineHandle, clock: RetentionClock, stop: &CancellationToken) -> JoinHandle<()> {
        let forgetting = self.keeper.clone().end_forgetting(engine.clone(), self.platforms.clone(), stop.clone());
        tokio::spawn(engine.clone().supervise("forgetting", stop.clone(), forgetting));
        let remembering = self.keeper.clone().watch(engine.clone(), clock, stop.clone());
        tokio::spawn(engine.clone().supervise("memory", stop.clone(), remembering))
    }
}

/// Long memory, with vectors where they are wanted.
async fn open_keeper(
    chosen: &EffectiveSettings,
    models: &Arc<Models>,
    backend: &dyn StoreBackend,
) -> anyhow::Result<Arc<Keeper>> {
    let settings = chosen.settings();
    for told in memory::try_out(&settings.memory, &chosen.layers).await.map_err(anyhow::Error::msg)? {
        tracing::info!("{told}");
    }
    let remembered = store::memory_of(backend, &chosen.layers, &chosen.policies, MemoryUser::Conversation).await?;
    let keeper = Keeper::new(remembered, models.clone(), backend.stores(), chosen.policies.clone());
    let embedder = models::wanted_embedder(&chosen.policies, &variable);
    let embedder = embedder.map_err(|what| chosen.mistake("models.embed", &settings.models.embed, what))?;
    Ok(Arc::new(match embedder {
        Some(embedder) => keeper.understanding(embedder),
        None => keeper,
    }))
}

/// Why it stops.
enum StopReason {
    /// Somebody told it to.
    Stopped,
    /// Something failed that must go on.
    Failed(TaskFailure),
    /// No platform lets it in any more.
    SentAway,
}

impl StopReason {
    fn announce(&self) {
        match self {
            StopReason::Failed(failure) => {
                tracing::error!("{failure}; stopping, so that the next start recovers from the journal")
            }
            StopReason::Stopped | StopReason::SentAway => {
                super::show::print_error("stopping: unfinished posts may complete; press Ctrl-C again to stop at once");
            }
        }
    }

    fn into_result(self) -> anyhow::Result<()> {
        match self {
            StopReason::Stopped => Ok(()),
            StopReason::Failed(failure) => Err(failure).context("stopped; the journal is safe, start it again"),
            StopReason::SentAway => {
                bail!("no platform is left to listen on: see the log; the web room is disabled (web.enabled)")
            }
        }
    }
}

/// Opens the store, unless something is missing that was durable. It waits for a full disk, and for a server.
async fn open_store(
    location: &StoreLocation,
    folder: &DataFolder,
    accept_loss: bool,
) -> anyhow::Result<Arc<dyn StoreBackend>> {
    let (path, kind) = (location.notes(), location.kind());
    if kind == StoreKind::Sqlite
        && let Some(lost) = LostRecords::of_file(&path).filter(|_| !accept_loss)
    {
        bail!("{lost}: {}", LostRecords::ADVICE);
    }
    let damaged = || match kind {
        StoreKind::Sqlite => format!("{} cannot be used: {}", path.display(), LostRecords::DAMAGED_ADVICE),
        StoreKind::Postgres => "the store of store.url cannot be used".to_owned(),
    };
    let backend = match wait_until_available(async || location.open().await).await {
        Err(error @ StoreError::Failed(_)) => return Err(error).with_context(damaged),
        opened => opened?,
    };
    if kind == StoreKind::Sqlite {
        folder.lock_database()?;
    }
    let journal = Journal::new(backend.stores());
    match journal.lost().await.with_context(damaged)? {
        Some(lost) if accept_loss => {
            tracing::warn!("{lost}; continuing without them");
            journal.accept_loss().await?;
        }
        Some(lost) => bail!("{lost}: {}", LostRecords::ADVICE),
        None => (),
    }
    Ok(backend)
}

pub async fn all_end(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}
