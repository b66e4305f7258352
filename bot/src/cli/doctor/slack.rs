//! Slack: whether both tokens are there and taken, and whether the app has the permissions it needs.

use super::check::{Check, Level};
use super::{Calls, Patient, ask};
use crate::cli::join::{SlackTokens, slack_tokens};
use crate::platforms::slack::SlackSettings;
use crate::platforms::slack::examine::{self, examine};

const PART: &str = "slack";

pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    let Ok(slack) = patient.layers.section::<SlackSettings>() else { return Vec::new() };
    let (bot, app) = (&slack.bot_token_variable, &slack.app_token_variable);
    if !slack.enabled {
        return vec![Check::ok(PART, "switched off")];
    }
    let (bot_token, app_token) = match slack_tokens(patient.environment, &slack) {
        SlackTokens::Both(bot, app) => (bot, app),
        SlackTokens::None => return vec![Check::ok(PART, format!("not joined: set {bot} and {app} to join"))],
        SlackTokens::OneMissing { variable, is } => {
            return vec![Check::fail(PART, format!("{variable} is missing"), format!("put {is} there"))];
        }
    };
    if patient.calls == Calls::None {
        return vec![Check::ok(PART, format!("tokens in {bot} and {app}, not asked"))];
    }
    let told = |(level, told, mend)| Check { part: PART, level: level_of(level), told, mend };
    match ask::wait_for(PART, examine(&slack, bot_token, app_token)) {
        Ok(findings) => findings.into_iter().map(told).collect(),
        Err(check) => vec![check],
    }
}

fn level_of(level: examine::Level) -> Level {
    match level {
        examine::Level::Ok => Level::Ok,
        examine::Level::Warn => Level::Warn,
        examine::Level::Fail => Level::Fail,
    }
}
