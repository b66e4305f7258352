//! `aizuchi run`: takes part. Everything is put together here, and taken apart when it is told to stop.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::settings::{Layers, Settings};
use anyhow::{Context as _, bail};
use clap::Args;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::join::{self, Joined};
use super::logs::{self, LogSettings};
use super::reload::{Hangup, Reload};
use super::rooms;
use super::settings::SettingsArguments;
use super::stopping::Stopping;
use super::web_link;
use super::welcome::welcome;
use crate::commands::{Bot, CommandRunner};
use crate::config;
use crate::console::metrics;
use crate::journal::{Journal, Lost, Traces};
use crate::keeper::Keeper;
use crate::memory;
use crate::models::{self, Choice, Models};
use crate::platforms::web::{Listening, Web, WebSettings, check_address};
use crate::ports::{Commands, Platform};
use crate::prompts::Prompts;
use crate::runtime::{Clock, Ears, Event, Failure, Runtime, World};
use crate::stores::{Database, Folder, StoreError, StoreSettings, wait_for_room};

#[derive(Args, Default)]
pub struct Arguments {
    #[command(flatten)]
    settings: SettingsArguments,
    /// Do not open a browser
    #[arg(long)]
    no_browser: bool,
    /// Go on although durable records are missing from the store
    #[arg(long)]
    accept_loss: bool,
}

/// Decisions and changes that a watcher may be behind with.
const EVENTS_MAX: usize = 4096;
/// Commands for other settings that may wait.
const PRESET_REQUESTS_MAX: usize = 16;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let chosen = Chosen::read(&arguments.settings)?;
    let log: LogSettings = config::section(&chosen.layers)?;
    logs::filter(&log.level).map_err(|what| chosen.mistake("log.level", &log.level, what))?;
    logs::start(&log)?;
    check_address(&chosen.layers)?;
    join::somewhere(&chosen.layers, &variable)?;
    let folder = Folder::take(Path::new(&chosen.store.folder))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no threads to run on")?;
    let lived = runtime.block_on(live(arguments, chosen, &folder));
    // Whoever says stop twice does not wait for a disk that takes its time; what must be durable is durable by now.
    runtime.shutdown_background();
    lived
}

/// The settings, with the models they come down to.
pub struct Chosen {
    pub policies: Policies,
    pub choice: Choice,
    pub layers: Layers,
    pub store: StoreSettings,
}

impl Chosen {
    pub fn read(arguments: &SettingsArguments) -> anyhow::Result<Chosen> {
        let mut layers = rooms::layers(arguments)?;
        let choice = models::choose(&mut layers, &variable)?;
        let policies = config::resolve(&layers)?;
        let chosen = Chosen { policies, choice, store: config::section(&layers)?, layers };
        if let Err(unusable) = models::check(&chosen.policies, &variable) {
            return Err(chosen.mistake(unusable.key, &unusable.model, unusable.to_string()));
        }
        Ok(chosen)
    }

    /// A mistake in a setting, with its place.
    fn mistake(&self, key: &str, value: &str, told: impl Into<String>) -> anyhow::Error {
        config::mistake(&self.layers, key, value, told)
    }

    pub fn settings(&self) -> &Settings {
        &self.policies.general().settings
    }

    /// How it introduces itself.
    pub fn introduction(&self) -> Bot {
        Bot {
            name: self.settings().bot.name.clone(),
            model: self.choice.main.clone(),
            judge: self.choice.judge.clone(),
            offline: self.choice.is_offline(),
            preset: self.layers.preset(),
            presets: self.layers.presets(),
        }
    }
}

pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

async fn live(arguments: &Arguments, chosen: Chosen, folder: &Folder) -> anyhow::Result<()> {
    // Whoever says stop while it starts is heard too.
    let (mut stopping, hangup) = (Stopping::new()?, Hangup::new()?);
    let opening = open_store(folder, arguments.accept_loss);
    let database = tokio::select! {
        opened = opening => opened?,
        () = stopping.wait() => return Ok(()),
    };
    let (events, watched) = broadcast::channel(EVENTS_MAX);
    let (ready, is_ready) = watch::channel(true);
    let parts = Parts::new(&chosen, &database)?;
    let world = parts.world(events, ready, &chosen);
    let starting = Runtime::start(database.clone(), chosen.policies.clone(), Arc::new(world));
    let mut runtime = tokio::select! {
        started = starting => started?,
        () = stopping.wait() => return Ok(()),
    };
    let stop = CancellationToken::new();
    let (preset_requests, wished) = mpsc::channel(PRESET_REQUESTS_MAX);
    let (ears, traces) = (runtime.ears.clone(), Traces::new(database));
    let commands =
        CommandRunner::new(ears.clone(), traces.clone(), Clock::Wall, chosen.introduction(), preset_requests);
    let commands = Arc::new(commands.remembering(parts.keeper.clone(), parts.platforms.clone()));
    let listening = || Listening {
        ears: ears.clone(),
        traces,
        commands: commands.clone(),
        keeper: Some(parts.keeper.clone()),
        events: watched,
        metrics: metrics::install(),
        ready: is_ready,
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
    let watching = parts.remember(&ears, &stop);
    let mut elsewhere = parts.joined.listen(&ears, &(commands.clone() as Arc<dyn Commands>), &stop);
    let address = serving.as_ref().map(|(address, _)| web_link::address_of(*address));
    welcome(&chosen, &parts.joined, address.as_deref(), &parts.web_settings, !arguments.no_browser);
    let has_room = parts.web.is_some();
    let reload = Reload {
        arguments: &arguments.settings,
        holds: chosen,
        mind: parts.mind,
        web: parts.web,
        commands,
        keeper: parts.keeper,
        ears,
    };
    let ending = tokio::select! {
        () = stopping.wait() => Ending::Stopped,
        failure = runtime.failed() => Ending::Failed(failure),
        () = reload.at_every(hangup, wished) => Ending::Stopped,
        () = all_end(&mut elsewhere), if !has_room => Ending::SentAway,
    };
    ending.announce();
    let mut tasks = (elsewhere, watching, serving.map(|(_, serving)| serving));
    tokio::select! {
        ended = stop_all(runtime, &stop, &mut tasks) => ended?,
        () = stopping.wait() => (),
    }
    ending.into_result()
}

/// The platforms beside the web room, long memory, and the web room.
type Tasks = (JoinSet<()>, JoinHandle<()>, Option<JoinHandle<()>>);

/// Stops everything, the engine first.
async fn stop_all(runtime: Runtime, stop: &CancellationToken, tasks: &mut Tasks) -> anyhow::Result<()> {
    let (elsewhere, watching, serving) = tasks;
    runtime.stop().await;
    stop.cancel();
    all_end(elsewhere).await;
    let _ = watching.await;
    match serving {
        Some(serving) => serving.await.context("the web room ended badly"),
        None => Ok(()),
    }
}

/// What a life is made of, before it begins.
struct Parts {
    mind: Arc<Models>,
    keeper: Arc<Keeper>,
    web: Option<Arc<Web>>,
    web_settings: WebSettings,
    joined: Joined,
    /// All of them, the web room too.
    platforms: Vec<Arc<dyn Platform>>,
}

impl Parts {
    fn new(chosen: &Chosen, database: &Database) -> anyhow::Result<Parts> {
        let settings = chosen.settings();
        let prompts = Arc::new(Prompts::new(PathBuf::from(&settings.prompts.folder)));
        let mind = Arc::new(Models::new(prompts, &chosen.policies, &variable)?);
        let web_settings: WebSettings = config::section(&chosen.layers)?;
        let open_web = |own| Web::new(own, settings, chosen.introduction(), database.platform_stores(), Clock::Wall);
        let web = Some(web_settings.clone()).filter(|own| own.enabled).map(open_web);
        let joined = Joined::new(&chosen.layers, settings, database)?;
        let mut platforms = joined.platforms();
        platforms.extend(web.clone().map(|web| web as Arc<dyn Platform>));
        let keeper = open_keeper(chosen, &mind, database)?;
        Ok(Parts { mind, keeper, web, web_settings, joined, platforms })
    }

    fn world(&self, events: broadcast::Sender<Event>, ready: watch::Sender<bool>, chosen: &Chosen) -> World {
        World {
            clock: Clock::Wall,
            mind: self.mind.clone(),
            keeper: Some(self.keeper.clone()),
            platforms: self.platforms.clone(),
            events,
            ready,
            store: chosen.store.clone(),
        }
    }

    /// Opens the web room, if there is one.
    async fn open_room(
        &self,
        listening: impl FnOnce() -> Listening,
    ) -> anyhow::Result<Option<(SocketAddr, JoinHandle<()>)>> {
        match &self.web {
            Some(web) => web.listen(listening()).await.map(Some),
            None => Ok(None),
        }
    }

    /// Has long memory follow what happens, and ends what was to be forgotten. The task of the former.
    fn remember(&self, ears: &Ears, stop: &CancellationToken) -> JoinHandle<()> {
        let forgetting = self.keeper.clone().end_forgetting(ears.clone(), self.platforms.clone(), stop.clone());
        tokio::spawn(ears.clone().supervise("forgetting", stop.clone(), forgetting));
        let remembering = self.keeper.clone().watch(ears.clone(), Clock::Wall, stop.clone());
        tokio::spawn(ears.clone().supervise("memory", stop.clone(), remembering))
    }
}

/// Long memory, with vectors where they are wanted.
fn open_keeper(chosen: &Chosen, mind: &Arc<Models>, database: &Database) -> anyhow::Result<Arc<Keeper>> {
    let settings = chosen.settings();
    let remembered = memory::open(&settings.memory, database).map_err(anyhow::Error::msg)?;
    let keeper = Keeper::new(remembered, mind.clone(), database.clone(), chosen.policies.clone());
    let embedder = models::wanted_embedder(&chosen.policies, &variable);
    let embedder = embedder.map_err(|what| chosen.mistake("models.embed", &settings.models.embed, what))?;
    Ok(Arc::new(match embedder {
        Some(embedder) => keeper.understanding(embedder),
        None => keeper,
    }))
}

/// Why it stops.
enum Ending {
    /// Somebody told it to.
    Stopped,
    /// Something failed that must go on.
    Failed(Failure),
    /// No platform lets it in any more.
    SentAway,
}

impl Ending {
    fn announce(&self) {
        match self {
            Ending::Failed(failure) => {
                tracing::error!("{failure}; ending, so that the next start goes on from the journal")
            }
            Ending::Stopped | Ending::SentAway => {
                super::show::complain("stopping: posts on their way may finish; once more to stop at once");
            }
        }
    }

    fn into_result(self) -> anyhow::Result<()> {
        match self {
            Ending::Stopped => Ok(()),
            Ending::Failed(failure) => Err(failure).context("ended; what is recorded is safe, start it again"),
            Ending::SentAway => {
                bail!("there is nowhere left to listen: the log says why, and the web room is closed (web.enabled)")
            }
        }
    }
}

/// Opens the store, unless something is missing that was durable. On a full disk it waits.
async fn open_store(folder: &Folder, accept_loss: bool) -> anyhow::Result<Database> {
    let path = folder.database();
    if let Some(lost) = Lost::of_file(&path).filter(|_| !accept_loss) {
        bail!("{lost}: {}", Lost::ADVICE);
    }
    let damaged = || format!("{} cannot be used: {}", path.display(), Lost::DAMAGED_ADVICE);
    let database = match wait_for_room(async || Database::open(&path)).await {
        Err(error @ StoreError::Failed(_)) => return Err(error).with_context(damaged),
        opened => opened?,
    };
    folder.lock_database()?;
    let journal = Journal::new(database.clone());
    match journal.lost().await.with_context(damaged)? {
        Some(lost) if accept_loss => {
            tracing::warn!("{lost}; going on without them");
            journal.accept_loss().await?;
        }
        Some(lost) => bail!("{lost}: {}", Lost::ADVICE),
        None => (),
    }
    Ok(database)
}

async fn all_end(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}
