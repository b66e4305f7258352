//! The platforms it joins: those whose tokens are in the environment.

use std::sync::Arc;

use aizuchi_core::settings::{Layers, Settings};
use anyhow::{bail, ensure};
use secrecy::SecretString;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::run::variable;
use crate::config;
use crate::platforms::discord::{Discord, DiscordSettings};
use crate::platforms::slack::{Slack, SlackSettings};
use crate::platforms::web::WebSettings;
use crate::ports::{Commands, Platform};
use crate::runtime::{Clock, Ears};
use crate::stores::Database;

/// Beside the web room.
#[derive(Default)]
pub struct Joined {
    discord: Option<Arc<Discord>>,
    slack: Option<Arc<Slack>>,
}

impl Joined {
    /// Made ready to be posted to; nobody is connected yet.
    pub fn new(layers: &Layers, settings: &Settings, database: &Database) -> anyhow::Result<Joined> {
        let mut joined = Joined::default();
        let (discord, slack): (DiscordSettings, SlackSettings) = (config::section(layers)?, config::section(layers)?);
        if let Some(token) = token(&variable, &discord.token_variable).filter(|_| discord.enabled) {
            joined.discord = Some(Discord::new(discord, settings, token, database.platform_stores(), Clock::Wall));
        }
        if slack.enabled {
            match slack_tokens(&variable, &slack) {
                SlackTokens::None => (),
                SlackTokens::OneMissing { variable, is } => bail!("Slack needs a second token, {variable}: {is}"),
                SlackTokens::Both(bot, app) => {
                    joined.slack =
                        Some(Slack::new(slack, settings, bot, app, database.platform_stores(), Clock::Wall)?);
                }
            }
        }
        Ok(joined)
    }

    pub fn platforms(&self) -> Vec<Arc<dyn Platform>> {
        let discord = self.discord.clone().map(|discord| discord as Arc<dyn Platform>);
        discord.into_iter().chain(self.slack.clone().map(|slack| slack as Arc<dyn Platform>)).collect()
    }

    /// Where it will be, in words.
    pub fn told(&self) -> Vec<&'static str> {
        [self.discord.as_ref().map(|_| "Discord"), self.slack.as_ref().map(|_| "Slack")].into_iter().flatten().collect()
    }

    /// Connects in the background. A platform that sends it away is told in the log; the others go on.
    pub fn listen(&self, ears: &Ears, commands: &Arc<dyn Commands>, stop: &CancellationToken) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        if let Some(discord) = self.discord.clone() {
            let (ears, commands, stop) = (ears.clone(), commands.clone(), stop.clone());
            tasks.spawn(async move { attend("Discord", discord.listen(ears, commands, stop)).await });
        }
        if let Some(slack) = self.slack.clone() {
            let (ears, commands, stop) = (ears.clone(), commands.clone(), stop.clone());
            tasks.spawn(async move { attend("Slack", slack.listen(ears, commands, stop).await).await });
        }
        tasks
    }
}

/// Whether there is any place to be in; `Err` says what to do where there is none. One token of two counts: it is told that
/// the other is missing.
pub fn somewhere(layers: &Layers, environment: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
    let web: WebSettings = config::section(layers)?;
    let (discord, slack): (DiscordSettings, SlackSettings) = (config::section(layers)?, config::section(layers)?);
    let on_discord = discord.enabled && token(environment, &discord.token_variable).is_some();
    let on_slack = slack.enabled && !matches!(slack_tokens(environment, &slack), SlackTokens::None);
    ensure!(
        web.enabled || on_discord || on_slack,
        "there is nowhere to listen: the web room is closed (setting web.enabled), and no token lets it join Discord ({}) \
         or Slack ({} and {})",
        discord.token_variable,
        slack.bot_token_variable,
        slack.app_token_variable
    );
    Ok(())
}

const WHERE_APP_TOKEN: &str = "an app-level token (xapp-…) from \"Basic Information\" of your Slack app";
const WHERE_BOT_TOKEN: &str = "the bot token (xoxb-…) from \"OAuth & Permissions\" of your Slack app";

pub fn token(environment: &dyn Fn(&str) -> Option<String>, name: &str) -> Option<SecretString> {
    environment(name).filter(|token| !token.trim().is_empty()).map(|token| token.trim().to_owned().into())
}

/// Slack wants two: one to speak with, one to listen with.
pub enum SlackTokens {
    None,
    OneMissing { variable: String, is: &'static str },
    Both(SecretString, SecretString),
}

pub fn slack_tokens(environment: &dyn Fn(&str) -> Option<String>, slack: &SlackSettings) -> SlackTokens {
    let (bot, app) = (&slack.bot_token_variable, &slack.app_token_variable);
    match (token(environment, bot), token(environment, app)) {
        (Some(bot), Some(app)) => SlackTokens::Both(bot, app),
        (Some(_), None) => SlackTokens::OneMissing { variable: app.clone(), is: WHERE_APP_TOKEN },
        (None, Some(_)) => SlackTokens::OneMissing { variable: bot.clone(), is: WHERE_BOT_TOKEN },
        (None, None) => SlackTokens::None,
    }
}

async fn attend(platform: &'static str, listening: anyhow::Result<JoinHandle<()>>) {
    match listening {
        Ok(task) => {
            if let Err(error) = task.await {
                tracing::error!(platform, %error, "the connection ended badly");
            }
        }
        Err(error) => tracing::error!(platform, error = format!("{error:#}"), "it can not join"),
    }
}
