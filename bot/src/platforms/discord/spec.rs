//! The declaration of Discord as a platform.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, SectionRow};
use secrecy::SecretString;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::examine::examine;
use super::platform::{Discord, check_token};
use super::settings::DiscordSettings;
use crate::check::Check;
use crate::config;
use crate::platforms::{JoinedPlatform, Opening, PlatformKind, PlatformSpec, TokenSpec};
use crate::ports::{BoxFuture, Commands, ShardClaims};
use crate::runtime::EngineHandle;

pub const PLATFORM: PlatformSpec = PlatformSpec {
    title: "Discord",
    section: SectionRow::of::<DiscordSettings>(),
    takes_effect: &["discord.token_variable"],
    kind: PlatformKind::Joined { tokens: &[TOKEN], examine: ask, open },
};

const TOKEN: TokenSpec = TokenSpec {
    setting: "discord.token_variable",
    is: "the token of the bot, from \"Bot\" of your Discord application",
    check: |token| check_token(token).map_err(|error| error.to_string()),
};

fn ask(layers: &Layers, tokens: Vec<SecretString>) -> BoxFuture<'static, Vec<Check>> {
    let own = layers.section::<DiscordSettings>();
    Box::pin(async move {
        match own {
            Ok(own) => examine(&own, &single_token(tokens)).await,
            // Invalid settings are reported by the settings check.
            Err(_) => Vec::new(),
        }
    })
}

fn open(opening: &Opening<'_>, tokens: Vec<SecretString>) -> anyhow::Result<Arc<dyn JoinedPlatform>> {
    let own = config::section(opening.layers)?;
    Ok(Discord::new(own, opening.settings, single_token(tokens), opening.stores.clone(), opening.clock))
}

fn single_token(tokens: Vec<SecretString>) -> SecretString {
    let [token] = <[SecretString; 1]>::try_from(tokens).expect("one token is declared");
    token
}

impl JoinedPlatform for Discord {
    fn listen(
        self: Arc<Discord>,
        engine: EngineHandle,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, anyhow::Result<JoinHandle<()>>> {
        Box::pin(async move { Discord::listen(&self, engine, commands, stop) })
    }

    fn set_tokens(&self, tokens: Vec<SecretString>) -> bool {
        self.set_token(single_token(tokens))
    }

    fn share(&self, claims: Arc<dyn ShardClaims>) -> bool {
        self.claims.set(claims).is_ok()
    }
}
