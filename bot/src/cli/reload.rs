//! Settings that change while it runs: read again on SIGHUP, and used if there is no mistake in them.

use std::sync::Arc;

use aizuchi_core::settings::Settings;

use super::SettingsArguments;
use super::run::{Chosen, variable};
use crate::models::Models;
use crate::platforms::web::Web;
use crate::runtime::Ears;

/// What is told of other settings.
pub struct Reload<'a> {
    pub arguments: &'a SettingsArguments,
    pub holds: Chosen,
    pub mind: Arc<Models>,
    pub web: Arc<Web>,
    pub ears: Ears,
}

impl Reload<'_> {
    /// Ends when nobody listens any more.
    pub async fn at_every(mut self, mut hangup: Hangup) {
        loop {
            hangup.wait().await;
            match self.read() {
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "a mistake in the settings; the old ones stay")
                }
                Ok(chosen) if chosen.policies.stated() == self.holds.policies.stated() => {
                    tracing::info!("settings read again; nothing has changed");
                }
                Ok(chosen) => {
                    if self.ears.govern(&chosen.policies).await.is_err() {
                        return;
                    }
                    self.web.introduce(chosen.settings(), chosen.introduction());
                    tracing::info!(models = chosen.choice.told, "settings read again; the new ones hold");
                    let late = needs_restart(self.holds.settings(), chosen.settings());
                    if !late.is_empty() {
                        tracing::warn!(settings = late.join(", "), "these settings hold from the next start on");
                    }
                    self.holds = chosen;
                }
            }
        }
    }

    fn read(&self) -> anyhow::Result<Chosen> {
        let chosen = Chosen::read(self.arguments)?;
        self.mind.expect(&chosen.policies, &variable)?;
        Ok(chosen)
    }
}

/// What is opened once and kept.
fn needs_restart(then: &Settings, now: &Settings) -> Vec<&'static str> {
    let changed = [
        ("web", then.web != now.web),
        ("store", then.store != now.store),
        ("runtime", then.runtime != now.runtime),
        ("log", then.log != now.log),
        ("prompts.folder", then.prompts.folder != now.prompts.folder),
    ];
    changed.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect()
}

/// What a supervisor sends to have settings read again.
pub struct Hangup {
    #[cfg(unix)]
    signal: tokio::signal::unix::Signal,
}

impl Hangup {
    #[cfg(unix)]
    pub fn new() -> anyhow::Result<Hangup> {
        use anyhow::Context as _;
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Hangup { signal: signal(SignalKind::hangup()).context("signals can not be heard")? })
    }

    #[cfg(unix)]
    async fn wait(&mut self) {
        if self.signal.recv().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    #[cfg(not(unix))]
    pub fn new() -> anyhow::Result<Hangup> {
        Ok(Hangup {})
    }

    #[cfg(not(unix))]
    async fn wait(&mut self) {
        std::future::pending::<()>().await;
    }
}
