//! What a platform declares. Everything that has to know which platforms there are goes by these declarations.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, SectionRow, Settings};
use secrecy::SecretString;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::check::{Check, Running};
use crate::ports::{BoxFuture, Commands, Platform, PlatformStores};
use crate::runtime::{Clock, EngineHandle};

pub struct PlatformSpec {
    /// As people know it.
    pub title: &'static str,
    /// Its settings, with a key `enabled`. The ids of its rooms and people begin with the section's name.
    pub section: SectionRow,
    /// Settings that hold from the next start on: sections and single keys.
    pub needs_restart: &'static [&'static str],
    pub kind: PlatformKind,
}

/// How it is reached.
pub enum PlatformKind {
    /// Pages that the program serves itself. They show all of the program, so that `run` opens them.
    Served {
        /// For `doctor`.
        examine: fn(&Layers, Running) -> Vec<Check>,
    },
    /// A service that the program connects to, where all its tokens are in the environment.
    Joined {
        tokens: &'static [TokenSpec],
        /// For `doctor`: asks the service, and changes nothing there. The tokens are in the order of their declaration.
        examine: fn(&Layers, Vec<SecretString>) -> BoxFuture<'static, Vec<Check>>,
        /// Made ready to be posted to; nobody is connected yet. Called inside a tokio runtime.
        open: OpenPlatform,
    },
}

pub type OpenPlatform = fn(&Opening<'_>, Vec<SecretString>) -> anyhow::Result<Arc<dyn JoinedPlatform>>;

/// A token that a platform is joined with.
pub struct TokenSpec {
    /// The setting that names the variable of the environment.
    pub setting: &'static str,
    /// What it is and where to find it, for a person who has not set it.
    pub is: &'static str,
    /// Whether it can be one at all.
    pub check: fn(&SecretString) -> Result<(), String>,
}

/// What a platform is made with.
pub struct Opening<'a> {
    pub layers: &'a Layers,
    pub settings: &'a Settings,
    pub stores: PlatformStores,
    pub clock: Clock,
}

/// A platform that can be listened to.
pub trait JoinedPlatform: Platform {
    /// Hears until it is stopped, or sent away for good.
    fn listen(
        self: Arc<Self>,
        engine: EngineHandle,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, anyhow::Result<JoinHandle<()>>>;
}

/// Which of a platform's tokens there are.
pub enum Tokens {
    None,
    OneMissing { variable: String, is: &'static str },
    All(Vec<SecretString>),
}

/// Reads a variable of the environment.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

impl PlatformSpec {
    /// Its section, and the beginning of its ids.
    pub fn name(&self) -> &'static str {
        self.section.name
    }

    pub fn is_enabled(&self, layers: &Layers) -> bool {
        layers.value(&format!("{}.enabled", self.name())).unwrap_or(false)
    }
}

/// The variables that hold these tokens.
pub fn token_variables(tokens: &[TokenSpec], layers: &Layers) -> Vec<String> {
    tokens.iter().map(|token| layers.value(token.setting).unwrap_or_default()).collect()
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
