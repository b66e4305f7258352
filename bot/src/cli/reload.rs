//! Settings that change while it runs: read again on SIGHUP, and used if there is no mistake in them.

use std::path::Path;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::settings::Layers;
#[cfg(feature = "cluster")]
use anyhow::Context as _;
use tokio::sync::mpsc;

use super::SettingsArguments;
use super::effective_settings::EffectiveSettings;
use super::join::JoinedPlatforms;
use super::rooms::RoomPresets;
use super::run::variable;
#[cfg(feature = "cluster")]
use crate::cluster::ClusterContext;
use crate::commands::{BotInfo, CommandRunner, PresetRequest};
use crate::config;
use crate::keeper::Keeper;
use crate::learnt;
use crate::models::Models;
use crate::platforms::web::{self, Web, WebSettings};
use crate::platforms::{PLATFORMS, PlatformSpec};
use crate::runtime::{EngineHandle, ShuttingDown};

/// What goes by the settings, beside rooms.
#[derive(Clone)]
pub struct SettingsUsers {
    pub models: Arc<Models>,
    pub web: Option<Arc<Web>>,
    pub joined: JoinedPlatforms,
    pub commands: Arc<CommandRunner>,
    pub keeper: Arc<Keeper>,
    pub engine: EngineHandle,
}

impl SettingsUsers {
    /// These hold from now on. `bot` is how it introduces itself.
    pub fn adopt(&self, policies: &Policies, bot: BotInfo) {
        let settings = &policies.general().settings;
        self.keeper.set_policies(policies);
        drop(self.engine.clone().with_aliases(settings));
        if let Some(web) = &self.web {
            web.introduce(settings, bot.clone());
        }
        self.commands.introduce(bot);
    }

    /// The tokens of these settings hold from now on. Returns for what they are other ones; `Err` if they cannot hold, and then all of
    /// those before do.
    async fn adopt_tokens(&self, layers: &Layers) -> anyhow::Result<Vec<&'static str>> {
        let read = self.joined.read_tokens(layers)?;
        let own: WebSettings = config::section(layers)?;
        let web_changed = match &self.web {
            Some(web) => web.set_token(own.token()).await.map_err(anyhow::Error::msg)?,
            None => false,
        };
        let mut changed = self.joined.set_tokens(read);
        changed.extend(web_changed.then_some(web::PLATFORM.title));
        for platform in self.joined.not_joined_yet(layers) {
            tracing::warn!(platform, "there is a token now; the platform is joined at the next start");
        }
        Ok(changed)
    }
}

/// What is logged about changed settings.
pub struct Reload<'a> {
    pub arguments: &'a SettingsArguments,
    pub holds: EffectiveSettings,
    pub presets: RoomPresets,
    pub users: SettingsUsers,
    /// Whose rooms, in every process, go by the same settings.
    #[cfg(feature = "cluster")]
    pub cluster: Option<Arc<ClusterContext>>,
}

/// Why other settings are not used.
enum ReloadError {
    Stopping,
    Failed(anyhow::Error),
}

impl From<ShuttingDown> for ReloadError {
    fn from(_: ShuttingDown) -> ReloadError {
        ReloadError::Stopping
    }
}

impl From<anyhow::Error> for ReloadError {
    fn from(error: anyhow::Error) -> ReloadError {
        ReloadError::Failed(error)
    }
}

impl Reload<'_> {
    /// Ends when nobody listens any more.
    pub async fn at_every(mut self, mut hangup: HangupSignal, mut preset_requests: mpsc::Receiver<PresetRequest>) {
        // Another process may have chosen one while this one started.
        let mut is_behind = self.is_behind().await;
        loop {
            let request = tokio::select! {
                () = std::future::ready(()), if std::mem::take(&mut is_behind) => None,
                () = hangup.wait() => None,
                Some(request) = preset_requests.recv() => Some(request),
            };
            let told = match self.reload(request.as_ref()).await {
                Ok(()) => Ok(()),
                Err(ReloadError::Stopping) => return,
                Err(ReloadError::Failed(error)) => {
                    let error = format!("{error:#}");
                    tracing::error!(error, "invalid settings; keeping the old ones");
                    Err(error)
                }
            };
            if let Some(request) = request {
                let _ = request.done.send(told);
            }
        }
    }

    /// Whether another process has chosen the preset of a room since the settings were read.
    async fn is_behind(&self) -> bool {
        self.presets.shared().await.is_ok_and(|now| now != self.holds.room_presets)
    }

    /// The preset that was chosen for a room is kept where the settings are read from.
    async fn reload(&mut self, request: Option<&PresetRequest>) -> Result<(), ReloadError> {
        if let Some(PresetRequest { room, preset, .. }) = request {
            self.presets.choose(Path::new(&self.holds.store.folder), room, preset).await?;
        }
        loop {
            let local = self.holds.choice.local.as_ref();
            let chosen = EffectiveSettings::read(self.arguments, local, &self.presets).await?;
            self.change(chosen).await?;
            // What another process chose meanwhile is not in these settings, nor perhaps this choice in those of the other.
            if !self.is_behind().await {
                return Ok(());
            }
        }
    }

    async fn change(&mut self, chosen: EffectiveSettings) -> Result<(), ReloadError> {
        chosen.log_renamed();
        let late = needs_restart(&self.holds.layers, &chosen.layers);
        // Keys of models may be other ones too.
        self.users.models.expect(&chosen.policies, &variable)?;
        let with_token = self.users.adopt_tokens(&chosen.layers).await?;
        if !with_token.is_empty() {
            tracing::info!(platforms = with_token.join(", "), "settings reloaded: another token");
        }
        if self.has(&chosen.policies).await && late.is_empty() {
            if with_token.is_empty() {
                tracing::info!("settings reloaded; nothing changed");
            }
            self.holds = chosen;
            return Ok(());
        }
        if let Err(error) = learnt::keep(Path::new(&self.holds.store.folder), &chosen.policies) {
            tracing::warn!(%error, "cannot keep a copy of the model; a replay needs the file itself");
        }
        self.tell_rooms(&chosen.policies).await?;
        self.users.adopt(&chosen.policies, chosen.introduction());
        tracing::info!(models = chosen.choice.told, "settings reloaded");
        if !late.is_empty() {
            tracing::warn!(settings = late.join(", "), "these settings take effect at the next start");
        }
        self.holds = chosen;
        Ok(())
    }

    /// Whether these hold already. In a cluster others may hold by now than those that this process has read last.
    async fn has(&self, policies: &Policies) -> bool {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return cluster.holds(policies).await.unwrap_or(false);
        }
        policies.stated() == self.holds.policies.stated()
    }

    async fn tell_rooms(&self, policies: &Policies) -> Result<(), ReloadError> {
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster {
            return Ok(cluster.set_policies(policies.clone()).await.context("cannot store the settings")?);
        }
        Ok(self.users.engine.change_policies(policies).await?)
    }
}

/// What is opened once and kept, beside the platforms: sections, and single keys.
const KEPT: [&str; 10] = [
    "store",
    "firestore",
    "cluster",
    "runtime",
    "log",
    "prompts.folder",
    "mcp",
    "schedule",
    "tools.fetch",
    "tools.xivapi",
];

fn needs_restart(then: &Layers, now: &Layers) -> Vec<&'static str> {
    let of_platforms = PLATFORMS.iter().flat_map(PlatformSpec::needs_restart);
    of_platforms.chain(KEPT).filter(|name| !then.sets_alike(now, name)).collect()
}

/// What a supervisor sends to have settings read again.
pub struct HangupSignal {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl HangupSignal {
    #[cfg(unix)]
    pub fn new() -> anyhow::Result<HangupSignal> {
        use anyhow::Context as _;
        use tokio::signal::unix::{SignalKind, signal};
        Ok(HangupSignal { signal: signal(SignalKind::hangup()).context("cannot install signal handlers")? })
    }

    #[cfg(unix)]
    async fn wait(&mut self) {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    #[cfg(not(unix))]
    pub fn new() -> anyhow::Result<HangupSignal> {
        Ok(HangupSignal {})
    }

    #[cfg(not(unix))]
    async fn wait(&mut self) {
        std::future::pending::<()>().await;
    }
}
