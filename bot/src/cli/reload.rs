//! Settings that change while it runs: read again on SIGHUP, and used if there is no mistake in them.

use std::path::Path;
use std::sync::Arc;

use aizuchi_core::settings::Layers;
use tokio::sync::mpsc;

use super::SettingsArguments;
use super::rooms;
use super::run::{EffectiveSettings, variable};
use crate::commands::{CommandRunner, PresetRequest};
use crate::keeper::Keeper;
use crate::learnt;
use crate::models::Models;
use crate::platforms::PLATFORMS;
use crate::platforms::web::Web;
use crate::runtime::{EngineHandle, ShuttingDown};

/// What is logged about changed settings.
pub struct Reload<'a> {
    pub arguments: &'a SettingsArguments,
    pub holds: EffectiveSettings,
    pub models: Arc<Models>,
    pub web: Option<Arc<Web>>,
    pub commands: Arc<CommandRunner>,
    pub keeper: Arc<Keeper>,
    pub engine: EngineHandle,
}

impl Reload<'_> {
    /// Ends when nobody listens any more.
    pub async fn at_every(mut self, mut hangup: HangupSignal, mut preset_requests: mpsc::Receiver<PresetRequest>) {
        loop {
            let request = tokio::select! {
                () = hangup.wait() => None,
                Some(request) = preset_requests.recv() => Some(request),
            };
            let chosen = match request.as_ref().map_or(Ok(()), |request| self.note(request)) {
                Ok(()) => self.read().await,
                Err(error) => Err(error),
            };
            if let Err(error) = &chosen {
                tracing::error!(error = format!("{error:#}"), "invalid settings; keeping the old ones");
            }
            let told = chosen.as_ref().map(|_| ()).map_err(|error| format!("{error:#}"));
            if let Ok(chosen) = chosen
                && self.change(chosen).await.is_err()
            {
                return;
            }
            if let Some(request) = request {
                let _ = request.done.send(told);
            }
        }
    }

    /// The preset that was chosen for a room is kept where the settings are read from.
    fn note(&self, request: &PresetRequest) -> anyhow::Result<()> {
        rooms::choose(Path::new(&self.holds.store.folder), &request.room, &request.preset)
    }

    async fn change(&mut self, chosen: EffectiveSettings) -> Result<(), ShuttingDown> {
        let late = needs_restart(&self.holds.layers, &chosen.layers);
        if chosen.policies.stated() == self.holds.policies.stated() && late.is_empty() {
            tracing::info!("settings reloaded; nothing changed");
            return Ok(());
        }
        if let Err(error) = learnt::keep(Path::new(&self.holds.store.folder), &chosen.policies) {
            tracing::warn!(%error, "cannot keep a copy of the model; a replay needs the file itself");
        }
        self.engine.change_policies(&chosen.policies).await?;
        self.keeper.set_policies(&chosen.policies);
        if let Some(web) = &self.web {
            web.introduce(chosen.settings(), chosen.introduction());
        }
        self.commands.introduce(chosen.introduction());
        tracing::info!(models = chosen.choice.told, "settings reloaded");
        if !late.is_empty() {
            tracing::warn!(settings = late.join(", "), "these settings take effect at the next start");
        }
        self.holds = chosen;
        Ok(())
    }

    async fn read(&self) -> anyhow::Result<EffectiveSettings> {
        let chosen = EffectiveSettings::read(self.arguments, self.holds.choice.local.as_ref()).await?;
        self.models.expect(&chosen.policies, &variable)?;
        Ok(chosen)
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
    let of_platforms = PLATFORMS.iter().flat_map(|spec| spec.needs_restart).copied();
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
