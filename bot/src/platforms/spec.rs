//! What a platform declares. All code that needs the list of platforms uses these declarations.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, SectionRow, Settings};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::check::{Check, Running};
use crate::ports::{BoxFuture, Commands, Platform, PlatformStores, ShardClaims};
use crate::runtime::{Clock, EngineHandle};

pub struct PlatformSpec {
    /// The display name.
    pub title: &'static str,
    /// Its settings, with a key `enabled`. The ids of its rooms and people begin with the section's name.
    pub section: SectionRow,
    /// Those of its settings that take effect when they are read again; all others do at the next start.
    pub takes_effect: &'static [&'static str],
    pub kind: PlatformKind,
}

/// How people reach it.
pub enum PlatformKind {
    /// Pages that the program serves itself. They show the whole program, so `run` opens them.
    Served {
        /// For `doctor`.
        examine: fn(&Layers, Running) -> Vec<Check>,
    },
    /// A service that the program connects to, if all its tokens are in the environment.
    Joined {
        tokens: &'static [TokenSpec],
        /// For `doctor`: queries the service, and changes nothing there. The tokens are in the order of their declaration.
        examine: fn(&Layers, Vec<SecretString>) -> BoxFuture<'static, Vec<Check>>,
        /// Creates the platform so that it can post; it is not connected yet. Called inside a tokio runtime.
        open: OpenPlatform,
    },
}

pub type OpenPlatform = fn(&Opening<'_>, Vec<SecretString>) -> anyhow::Result<Arc<dyn JoinedPlatform>>;

/// A token that is needed to join a platform.
pub struct TokenSpec {
    /// The setting that names the environment variable.
    pub setting: &'static str,
    /// What it is and where to find it, for a person who has not set it.
    pub is: &'static str,
    /// Whether it has the form of such a token.
    pub check: fn(&SecretString) -> Result<(), String>,
}

/// The arguments for creating a platform.
pub struct Opening<'a> {
    pub layers: &'a Layers,
    pub settings: &'a Settings,
    pub stores: PlatformStores,
    pub clock: Clock,
}

/// A platform that can be listened to.
pub trait JoinedPlatform: Platform {
    /// Listens until shutdown, or until the service refuses it permanently.
    fn listen(
        self: Arc<Self>,
        engine: EngineHandle,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, anyhow::Result<JoinHandle<()>>>;

    /// From now on these tokens hold, in the order of their declaration: a connection with other ones is closed, and another one opened.
    /// Returns whether they are other ones. Where it has stopped, it has to be listened to again.
    fn set_tokens(&self, tokens: Vec<SecretString>) -> bool;

    /// Has it share its connections with other processes. `false` if it has only one, which a single process must have.
    fn share(&self, _claims: Arc<dyn ShardClaims>) -> bool {
        false
    }
}

/// Which of a platform's tokens are set.
pub enum Tokens {
    None,
    OneMissing { variable: String, is: &'static str },
    All(Vec<SecretString>),
}

/// Reads an environment variable.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl PlatformSpec {
    /// The name of its section, which is the prefix of its ids.
    pub fn name(&self) -> &'static str {
        self.section.name
    }

    /// Settings that take effect at the next start.
    pub fn needs_restart(&self) -> impl Iterator<Item = &'static str> {
        let keys = self.section.keys.iter().map(|key| key.name);
        keys.filter(|key| !self.takes_effect.contains(key))
    }

    pub fn is_enabled(&self, layers: &Layers) -> bool {
        layers.value(&format!("{}.enabled", self.name())).unwrap_or(false)
    }
}

/// The environment variables of these tokens.
pub fn token_variables(tokens: &[TokenSpec], layers: &Layers) -> Vec<String> {
    tokens.iter().map(|token| layers.value(token.setting).unwrap_or_default()).collect()
}

/// Whether two tokens are the same; the time it takes does not matter, since nobody else chooses either.
pub fn is_same_token(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}

pub fn read_tokens(tokens: &[TokenSpec], layers: &Layers, environment: Environment<'_>) -> Tokens {
    let variables = token_variables(tokens, layers);
    let read: Vec<Option<SecretString>> = variables.iter().map(|variable| read_token(variable, environment)).collect();
    match read.iter().position(Option::is_none) {
        None => Tokens::All(read.into_iter().flatten().collect()),
        Some(_) if read.iter().all(Option::is_none) => Tokens::None,
        Some(index) => Tokens::OneMissing { variable: variables[index].clone(), is: tokens[index].is },
    }
}

fn read_token(variable: &str, environment: Environment<'_>) -> Option<SecretString> {
    environment(variable).filter(|token| !token.trim().is_empty()).map(|token| token.trim().to_owned().into())
}
