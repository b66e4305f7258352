//! The platforms it joins: those whose tokens are in the environment.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, Settings};
use anyhow::{bail, ensure};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::run::variable;
use crate::platforms::{
    Environment, JoinedPlatform, Opening, PLATFORMS, PlatformKind, PlatformSpec, Tokens, read_tokens, token_variables,
};
#[cfg(feature = "cluster")]
use crate::ports::ShardClaims;
use crate::ports::{Commands, Platform, StoreBackend};
use crate::runtime::{Clock, EngineHandle};

/// Beside the web room.
pub struct JoinedPlatforms(Vec<(&'static PlatformSpec, Arc<dyn JoinedPlatform>)>);

impl JoinedPlatforms {
    /// Made ready to be posted to; nobody is connected yet.
    pub fn new(layers: &Layers, settings: &Settings, backend: &dyn StoreBackend) -> anyhow::Result<JoinedPlatforms> {
        let opening = Opening { layers, settings, stores: backend.platform_stores(), clock: Clock::Wall };
        let mut joined = Vec::new();
        for spec in PLATFORMS.iter().filter(|spec| spec.is_enabled(layers)) {
            let PlatformKind::Joined { tokens, open, .. } = spec.kind else { continue };
            match read_tokens(tokens, layers, &variable) {
                Tokens::None => (),
                Tokens::OneMissing { variable, is } => bail!("{} also needs the token {variable}: {is}", spec.title),
                Tokens::All(tokens) => joined.push((spec, open(&opening, tokens)?)),
            }
        }
        Ok(JoinedPlatforms(joined))
    }

    pub fn platforms(&self) -> Vec<Arc<dyn Platform>> {
        self.0.iter().map(|(_, platform)| platform.clone() as Arc<dyn Platform>).collect()
    }

    /// How each is named in settings.
    #[cfg(feature = "cluster")]
    pub fn names(&self) -> Vec<&'static str> {
        self.0.iter().map(|(spec, _)| spec.name()).collect()
    }

    /// One of them alone.
    #[cfg(feature = "cluster")]
    pub fn only(&self, name: &str) -> JoinedPlatforms {
        let of_this_name = self.0.iter().filter(|(spec, _)| spec.name() == name);
        JoinedPlatforms(of_this_name.map(|(spec, platform)| (*spec, platform.clone())).collect())
    }

    /// Has one of them share its connections with other processes. `false` if it has only one.
    #[cfg(feature = "cluster")]
    pub fn share(&self, name: &str, claims: &Arc<dyn ShardClaims>) -> bool {
        self.0.iter().filter(|(spec, _)| spec.name() == name).any(|(_, platform)| platform.share(claims.clone()))
    }

    /// Where it will be, in words.
    pub fn titles(&self) -> Vec<&'static str> {
        self.0.iter().map(|(spec, _)| spec.title).collect()
    }

    /// Connects in the background. A platform that refuses the connection is logged; the others go on.
    pub fn listen(&self, engine: &EngineHandle, commands: &Arc<dyn Commands>, stop: &CancellationToken) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for (spec, platform) in &self.0 {
            let (title, listening) =
                (spec.title, platform.clone().listen(engine.clone(), commands.clone(), stop.clone()));
            tasks.spawn(async move { attend(title, listening.await).await });
        }
        tasks
    }
}

/// Whether there is any place to be in; `Err` says what to do where there is none. One token of two counts: it is told that
/// the other is missing.
pub fn somewhere(layers: &Layers, environment: Environment<'_>) -> anyhow::Result<()> {
    let is_open = |spec: &PlatformSpec| {
        spec.is_enabled(layers)
            && match spec.kind {
                PlatformKind::Served { .. } => true,
                PlatformKind::Joined { tokens, .. } => {
                    !matches!(read_tokens(tokens, layers, environment), Tokens::None)
                }
            }
    };
    let joinable = PLATFORMS.iter().filter_map(|spec| match spec.kind {
        PlatformKind::Served { .. } => None,
        PlatformKind::Joined { tokens: [], .. } => Some(format!("{} ({}.enabled)", spec.title, spec.name())),
        PlatformKind::Joined { tokens, .. } => {
            Some(format!("{} ({})", spec.title, token_variables(tokens, layers).join(" and ")))
        }
    });
    ensure!(
        PLATFORMS.iter().any(is_open),
        "nowhere to listen: the web room is disabled (setting web.enabled), and there is no token for {}",
        joinable.collect::<Vec<_>>().join(" or ")
    );
    Ok(())
}

/// The platforms that are joined, for a sentence: "Discord and Slack".
pub fn joinable_titles() -> String {
    let is_joined = |spec: &&PlatformSpec| matches!(spec.kind, PlatformKind::Joined { .. });
    let titles: Vec<&str> = PLATFORMS.iter().filter(is_joined).map(|spec| spec.title).collect();
    match titles.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => titles.concat(),
    }
}

async fn attend(platform: &'static str, listening: anyhow::Result<JoinHandle<()>>) {
    match listening {
        Ok(task) => {
            if let Err(error) = task.await {
                tracing::error!(platform, %error, "connection task failed");
            }
        }
        Err(error) => tracing::error!(platform, error = format!("{error:#}"), "cannot join the platform"),
    }
}
