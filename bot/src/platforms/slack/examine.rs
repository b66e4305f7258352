//! Checks whether the bot can listen to Slack: tokens, Socket Mode and permissions, each with how to fix it.

use secrecy::{ExposeSecret as _, SecretString};

use super::api::{Api, TokenKind};
use super::read::text;
use super::scopes::NEEDED;
use super::settings::SlackSettings;
use crate::check::{Check, Level};

const PART: &str = "slack";
const APPS: &str = "https://api.slack.com/apps";

/// Makes three calls to Slack; changes nothing there.
pub async fn examine(slack: &SlackSettings, bot_token: SecretString, app_token: SecretString) -> Vec<Check> {
    let mut findings = Vec::new();
    for (token, prefix, variable) in
        [(&bot_token, "xoxb-", &slack.bot_token_variable), (&app_token, "xapp-", &slack.app_token_variable)]
    {
        if !token.expose_secret().starts_with(prefix) {
            let told = format!("{variable} does not start with {prefix}");
            findings.push(Check::warn(PART, told, format!("copy it again from {APPS}")));
        }
    }
    let api = match Api::new(&slack.api_url, bot_token, app_token) {
        Ok(api) => api,
        Err(error) => {
            return vec![Check::fail(PART, format!("{error:#}"), "check the TLS certificates of this machine")];
        }
    };
    findings.extend(bot(&api, &slack.bot_token_variable).await);
    findings.push(app(&api, &slack.app_token_variable).await);
    findings
}

async fn bot(api: &Api, variable: &str) -> Vec<Check> {
    let answered = match api.call_with(TokenKind::Bot, "auth.test", &[]).await {
        Ok(answered) => answered,
        Err(error) => {
            let fix = format!("put the Bot User OAuth Token of {APPS}, OAuth & Permissions, into {variable}");
            return vec![Check::fail(PART, format!("the bot's token: {error}"), fix)];
        }
    };
    let (user, team) = (text(&answered.body, "user").unwrap_or("?"), text(&answered.body, "team").unwrap_or("?"));
    let known = Check::ok(PART, format!("logged in as {user} in the workspace {team}"));
    vec![known, scopes(answered.scopes.as_deref())]
}

/// Lists the missing scopes.
fn scopes(granted: Option<&str>) -> Check {
    let Some(granted) = granted else {
        return Check { level: Level::Warn, ..Check::ok(PART, "Slack does not report the app's scopes") };
    };
    let granted: Vec<&str> = granted.split(',').map(str::trim).collect();
    let missing: Vec<String> = NEEDED
        .iter()
        .filter(|(scope, _)| !granted.contains(scope))
        .map(|(scope, purpose)| format!("{scope} ({purpose})"))
        .collect();
    if missing.is_empty() {
        return Check::ok(PART, format!("has the {} scopes it needs", NEEDED.len()));
    }
    let fix = format!(
        "add it at {APPS}, OAuth & Permissions, Bot Token Scopes, and install the app again; docs/slack-manifest.yaml has them all"
    );
    Check::fail(PART, format!("lacks {}", missing.join(", ")), fix)
}

async fn app(api: &Api, variable: &str) -> Check {
    match api.call_with(TokenKind::App, "apps.connections.open", &[]).await {
        Ok(_) => Check::ok(PART, "Socket Mode works"),
        Err(error) => {
            let fix = format!(
                "create an App-Level Token with connections:write at {APPS}, Basic Information, and put it into {variable}"
            );
            Check::fail(PART, format!("the app's token: {error}"), fix)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_permission_is_named() {
        let all: Vec<&str> = NEEDED.iter().map(|(scope, _)| *scope).collect();
        assert_eq!(scopes(Some(&all.join(", "))).level, Level::Ok);
        let but_one: Vec<&str> = all.into_iter().filter(|scope| *scope != "reactions:write").collect();
        let Check { level, told, fix, .. } = scopes(Some(&but_one.join(",")));
        assert_eq!((level, told.as_str()), (Level::Fail, "lacks reactions:write (reacts)"));
        assert!(fix.is_some());
        assert_eq!(scopes(None).level, Level::Warn);
    }
}
