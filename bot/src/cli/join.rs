//! The platforms it joins: those whose tokens are in the environment.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, Settings};
use anyhow::{bail, ensure};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::run::variable;
use crate::platforms::{
    Environment, JoinedPlatform, Opening, PLATFORMS, PlatformKind, PlatformSpec, Tokens, read_tokens, token_variables,
};
#[cfg(feature = "cluster")]
use crate::ports::ShardClaims;
use crate::ports::{Commands, Platform, PlatformStores};
use crate::redacted;
use crate::runtime::{Clock, EngineHandle};

/// Beside the web room. Cheap to clone.
#[derive(Clone)]
pub struct JoinedPlatforms {
    all: Vec<OneJoined>,
    /// How many of them are listened to.
    listening: Arc<watch::Sender<usize>>,
}

#[derive(Clone)]
struct OneJoined {
    spec: &'static PlatformSpec,
    platform: Arc<dyn JoinedPlatform>,
    /// Notified when other tokens hold.
    other_tokens: Arc<watch::Sender<()>>,
}

/// Tokens that were read again, of each platform that is joined.
pub struct ReadTokens(Vec<Vec<SecretString>>);

impl JoinedPlatforms {
    /// Made ready to be posted to; nobody is connected yet.
    pub fn new(layers: &Layers, settings: &Settings, stores: PlatformStores) -> anyhow::Result<JoinedPlatforms> {
        let opening = Opening { layers, settings, stores, clock: Clock::Wall };
        let mut joined = Vec::new();
        for spec in PLATFORMS.iter().filter(|spec| spec.is_enabled(layers)) {
            let PlatformKind::Joined { tokens, open, .. } = spec.kind else { continue };
            match read_tokens(tokens, layers, &variable) {
                Tokens::None => (),
                Tokens::OneMissing { variable, is } => bail!("{} also needs the token {variable}: {is}", spec.title),
                Tokens::All(tokens) => {
                    let (platform, other_tokens) = (open(&opening, tokens)?, Arc::new(watch::Sender::new(())));
                    joined.push(OneJoined { spec, platform, other_tokens });
                }
            }
        }
        Ok(JoinedPlatforms::of(joined))
    }

    fn of(all: Vec<OneJoined>) -> JoinedPlatforms {
        JoinedPlatforms { all, listening: Arc::new(watch::Sender::new(0)) }
    }

    pub fn platforms(&self) -> Vec<Arc<dyn Platform>> {
        self.all.iter().map(|one| one.platform.clone() as Arc<dyn Platform>).collect()
    }

    /// The tokens as they are now. `Err` if one is missing or cannot be one.
    pub fn read_tokens(&self, layers: &Layers) -> anyhow::Result<ReadTokens> {
        let mut read = Vec::new();
        for OneJoined { spec, .. } in &self.all {
            let PlatformKind::Joined { tokens: declared, .. } = spec.kind else { continue };
            let variables = token_variables(declared, layers);
            let tokens = match read_tokens(declared, layers, &variable) {
                Tokens::None => bail!("{} needs the token {}", spec.title, variables.join(" and ")),
                Tokens::OneMissing { variable, is } => bail!("{} also needs the token {variable}: {is}", spec.title),
                Tokens::All(tokens) => tokens,
            };
            for (token, variable) in tokens.iter().zip(variables) {
                let is_sane = token.expose_secret().bytes().all(|byte| byte.is_ascii_graphic());
                ensure!(is_sane, "{} contains invalid characters: copy the token of {} again", variable, spec.title);
            }
            read.push(tokens);
        }
        Ok(ReadTokens(read))
    }

    /// From now on these tokens hold. Returns what the platforms are called where they are other ones.
    pub fn set_tokens(&self, ReadTokens(read): ReadTokens) -> Vec<&'static str> {
        let mut changed = Vec::new();
        for (one, tokens) in self.all.iter().zip(read) {
            if one.platform.set_tokens(tokens) {
                one.other_tokens.send_replace(());
                changed.push(one.spec.title);
            }
        }
        changed
    }

    /// Platforms that had no tokens at the start and have them now.
    pub fn not_joined_yet(&self, layers: &Layers) -> Vec<&'static str> {
        let has_tokens = |spec: &&PlatformSpec| match spec.kind {
            PlatformKind::Served { .. } => false,
            PlatformKind::Joined { tokens, .. } => matches!(read_tokens(tokens, layers, &variable), Tokens::All(_)),
        };
        let is_joined = |spec: &PlatformSpec| self.all.iter().any(|one| one.spec.name() == spec.name());
        let new = PLATFORMS.iter().filter(|spec| spec.is_enabled(layers) && !is_joined(spec)).filter(has_tokens);
        new.map(|spec| spec.title).collect()
    }

    /// How each is named in settings.
    #[cfg(feature = "cluster")]
    pub fn names(&self) -> Vec<&'static str> {
        self.all.iter().map(|one| one.spec.name()).collect()
    }

    /// One of them alone.
    #[cfg(feature = "cluster")]
    pub fn only(&self, name: &str) -> JoinedPlatforms {
        JoinedPlatforms::of(self.all.iter().filter(|one| one.spec.name() == name).cloned().collect())
    }

    /// Listens to the only one, until it cannot go on or is to stop.
    #[cfg(feature = "cluster")]
    pub async fn listen_once(&self, engine: EngineHandle, commands: Arc<dyn Commands>, until: CancellationToken) {
        for one in &self.all {
            one.listen(&engine, &commands, &until).await;
        }
    }

    /// Notified when the only one has other tokens.
    #[cfg(feature = "cluster")]
    pub fn other_tokens(&self) -> watch::Receiver<()> {
        self.all.first().map_or_else(|| watch::channel(()).1, |one| one.other_tokens.subscribe())
    }

    /// Has one of them share its connections with other processes. `false` if it has only one.
    #[cfg(feature = "cluster")]
    pub fn share(&self, name: &str, claims: &Arc<dyn ShardClaims>) -> bool {
        self.all.iter().filter(|one| one.spec.name() == name).any(|one| one.platform.share(claims.clone()))
    }

    /// Where it will be, in words.
    pub fn titles(&self) -> Vec<&'static str> {
        self.all.iter().map(|one| one.spec.title).collect()
    }

    /// Connects in the background. A platform that refuses the connection is logged, and is joined again with other tokens; the others
    /// go on.
    pub fn listen(&self, engine: &EngineHandle, commands: &Arc<dyn Commands>, stop: &CancellationToken) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        self.listening.send_replace(self.all.len());
        for one in self.all.iter().cloned() {
            let (engine, commands, stop) = (engine.clone(), commands.clone(), stop.clone());
            let (listening, mut other_tokens) = (self.listening.clone(), one.other_tokens.subscribe());
            tasks.spawn(async move {
                loop {
                    other_tokens.mark_unchanged();
                    one.listen(&engine, &commands, &stop).await;
                    listening.send_modify(|count| *count -= 1);
                    tokio::select! {
                        _ = other_tokens.changed() => listening.send_modify(|count| *count += 1),
                        () = stop.cancelled() => return,
                    }
                }
            });
        }
        tasks
    }

    /// Resolves when none of them is listened to any more.
    pub async fn all_refused(&self) {
        let mut listening = self.listening.subscribe();
        listening.wait_for(|count| *count == 0).await.expect("the sender lives as long as this");
    }
}

impl OneJoined {
    /// Until it cannot go on or is to stop.
    async fn listen(&self, engine: &EngineHandle, commands: &Arc<dyn Commands>, stop: &CancellationToken) {
        let listening = self.platform.clone().listen(engine.clone(), commands.clone(), stop.clone());
        attend(self.spec.title, listening.await).await;
    }
}

/// Whether there is any platform to join; `Err` says what to do if there is none. A platform with one token of two counts:
/// joining it reports the missing one.
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
                tracing::error!(platform, error = redacted::join_error(&error), "connection task failed");
            }
        }
        Err(error) => tracing::error!(platform, error = format!("{error:#}"), "cannot join the platform"),
    }
}
