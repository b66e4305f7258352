//! The declaration of Slack as a platform.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, SectionRow};
use secrecy::SecretString;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::examine::examine;
use super::platform::Slack;
use super::settings::SlackSettings;
use crate::check::Check;
use crate::config;
use crate::platforms::{JoinedPlatform, Opening, PlatformKind, PlatformSpec, TokenSpec};
use crate::ports::{BoxFuture, Commands};
use crate::runtime::EngineHandle;

pub const PLATFORM: PlatformSpec = PlatformSpec {
    title: "Slack",
    section: SectionRow::of::<SlackSettings>(),
    takes_effect: &["slack.bot_token_variable", "slack.app_token_variable"],
    kind: PlatformKind::Joined { tokens: &[BOT_TOKEN, APP_TOKEN], examine: ask, open },
};

/// For posting.
const BOT_TOKEN: TokenSpec = TokenSpec {
    setting: "slack.bot_token_variable",
    is: "the bot token (xoxb-…) from \"OAuth & Permissions\" of your Slack app",
    check: |_| Ok(()),
};

/// For listening.
const APP_TOKEN: TokenSpec = TokenSpec {
    setting: "slack.app_token_variable",
    is: "an app-level token (xapp-…) from \"Basic Information\" of your Slack app",
    check: |_| Ok(()),
};

fn ask(layers: &Layers, tokens: Vec<SecretString>) -> BoxFuture<'static, Vec<Check>> {
    let own = layers.section::<SlackSettings>();
    Box::pin(async move {
        let [bot, app] = token_pair(tokens);
        match own {
            Ok(own) => examine(&own, bot, app).await,
            // Invalid settings are reported by the settings check.
            Err(_) => Vec::new(),
        }
    })
}

fn open(opening: &Opening<'_>, tokens: Vec<SecretString>) -> anyhow::Result<Arc<dyn JoinedPlatform>> {
    let own = config::section(opening.layers)?;
    let [bot, app] = token_pair(tokens);
    Ok(Slack::new(own, opening.settings, bot, app, opening.stores.clone(), opening.clock)?)
}

fn token_pair(tokens: Vec<SecretString>) -> [SecretString; 2] {
    tokens.try_into().expect("two tokens are declared")
}

impl JoinedPlatform for Slack {
    fn listen(
        self: Arc<Slack>,
        engine: EngineHandle,
        commands: Arc<dyn Commands>,
        stop: CancellationToken,
    ) -> BoxFuture<'static, anyhow::Result<JoinHandle<()>>> {
        Box::pin(async move { Slack::listen(&self, engine, commands, stop).await })
    }

    fn set_tokens(&self, tokens: Vec<SecretString>) -> bool {
        let [bot, app] = token_pair(tokens);
        Slack::set_tokens(self, bot, app)
    }
}
