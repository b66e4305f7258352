//! The settings, and what they come down to on this machine.

use aizuchi_core::Policies;
use aizuchi_core::settings::{Layers, Settings};

use super::rooms::{self, ChosenPresets, RoomPresets};
use super::run::variable;
use super::settings::SettingsArguments;
use crate::commands::BotInfo;
use crate::config;
use crate::models::{self, LocalModel, ModelChoice};
use crate::stores::StoreSettings;

/// The settings, with the models they come down to.
pub struct EffectiveSettings {
    pub policies: Policies,
    pub choice: ModelChoice,
    pub layers: Layers,
    pub store: StoreSettings,
    /// The choices that processes share, as far as this one knew of them.
    pub room_presets: ChosenPresets,
}

impl EffectiveSettings {
    /// `local` is the server on this machine that was found before.
    pub async fn read(
        arguments: &SettingsArguments,
        local: Option<&LocalModel>,
        presets: &RoomPresets,
    ) -> anyhow::Result<EffectiveSettings> {
        let (mut layers, room_presets) = rooms::layers_with(arguments, presets).await?;
        let local = models::find_local_model(&layers, &variable, local).await?;
        let choice = models::choose(&mut layers, &variable, local.as_ref())?;
        let policies = config::resolve(&layers)?;
        let chosen = EffectiveSettings { policies, choice, store: config::section(&layers)?, layers, room_presets };
        if let Err(unusable) = models::check(&chosen.policies, &variable) {
            return Err(chosen.mistake(unusable.key, &unusable.model, unusable.to_string()));
        }
        Ok(chosen)
    }

    /// A mistake in a setting, with its place.
    pub fn mistake(&self, key: &str, value: &str, told: impl Into<String>) -> anyhow::Error {
        config::mistake(&self.layers, key, value, told)
    }

    /// Logs which settings were given by an earlier name.
    pub fn log_renamed(&self) {
        for renamed in self.layers.renamed() {
            tracing::warn!("{renamed}");
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.policies.general().settings
    }

    /// How it introduces itself.
    pub fn introduction(&self) -> BotInfo {
        BotInfo {
            name: self.settings().bot.name.clone(),
            model: self.choice.main.clone(),
            judge: self.choice.judge.clone(),
            offline: self.choice.is_offline(),
            local: self.choice.local.clone(),
            preset: self.layers.preset(),
            presets: self.layers.presets(),
        }
    }
}
