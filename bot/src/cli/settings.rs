//! The command-line options for settings, shared by every command that has them.

use aizuchi_core::Policies;
use aizuchi_core::settings::{Layers, Section};
use clap::Args;

use crate::config::{self, SettingsOverrides};

#[derive(Args, Clone, Default)]
pub struct SettingsArguments {
    /// aizuchi, kotonoha, sphene or myao2
    #[arg(long, global = true)]
    pub preset: Option<String>,
    /// The settings file [default: aizuchi.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<String>,
    /// Change a setting, such as gates.interval_seconds=300; can be repeated
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The name people call it by
    #[arg(long, global = true, value_name = "NAME")]
    pub bot_name: Option<String>,
}

impl SettingsArguments {
    /// File, environment and command line, not validated yet.
    pub fn layers(&self) -> anyhow::Result<Layers> {
        let wishes = SettingsOverrides {
            file: self.config.clone(),
            preset: self.preset.clone(),
            bot_name: self.bot_name.clone(),
            assignments: self.set.clone(),
        };
        config::layers(&wishes, environment())
    }

    /// The settings, validated.
    pub fn policies(&self) -> anyhow::Result<Policies> {
        config::resolve(&self.layers()?)
    }

    /// One section of the shell's settings; everything else is validated too.
    pub fn section<S: Section>(&self) -> anyhow::Result<S> {
        let layers = self.layers()?;
        config::resolve(&layers)?;
        config::section(&layers)
    }

    /// The settings for a replay, and the name of the preset they start from.
    pub fn policies_for_replay(&self) -> anyhow::Result<(Policies, String)> {
        let mut layers = self.layers()?;
        layers.suggest_for_replay();
        Ok((config::resolve(&layers)?, layers.preset()))
    }

    /// Whether the command line changes any setting.
    pub fn changes_anything(&self) -> bool {
        self.preset.is_some() || self.bot_name.is_some() || !self.set.is_empty()
    }
}

/// The environment variables that are valid Unicode.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}
