//! How to fix errors, in words for the operator.

use crate::ports::PostError;

use super::rest::RestError;

/// Where the bot is configured.
pub const PORTAL: &str = "https://discord.com/developers/applications";

/// The action that failed, for naming the permission it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscordAction {
    Post,
    PostInThread,
    React,
    Delete,
    Look,
}

impl DiscordAction {
    fn needs(self) -> &'static str {
        match self {
            DiscordAction::Post => "Send Messages",
            DiscordAction::PostInThread => "Send Messages in Threads",
            DiscordAction::React => "Add Reactions and Read Message History",
            DiscordAction::Delete => "View Channel",
            DiscordAction::Look => "Read Message History",
        }
    }
}

const MISSING_ACCESS: u64 = 50001;
const UNAUTHORIZED: u64 = 40001;
const MISSING_PERMISSIONS: u64 = 50013;
const THREAD_ARCHIVED: u64 = 50083;
const THREAD_LOCKED: u64 = 160_005;

pub fn post_error(action: DiscordAction, error: &RestError) -> PostError {
    let later = |after| PostError::TryLater { after, what: error.to_string() };
    let never = |what: String| PostError::GiveUp { what };
    match error {
        RestError::Unclear(_) | RestError::Broken(_) => later(None),
        RestError::Busy { after } => later(Some(*after)),
        RestError::BadToken => never(error.to_string()),
        RestError::Refused { code: MISSING_ACCESS, .. } => {
            never("the bot cannot see this channel: give it the permission View Channel".into())
        }
        RestError::Refused { code: MISSING_PERMISSIONS, .. } => {
            never(format!("the bot lacks a permission in this channel: give it {}", action.needs()))
        }
        RestError::Refused { code: UNAUTHORIZED, .. } => never(format!("{error}; {}", wrong_token())),
        RestError::Refused { code: THREAD_ARCHIVED | THREAD_LOCKED, .. } => never("the thread is closed".into()),
        RestError::Refused { status: 403, .. } => {
            never(format!("{error}; what it needs here is the permission {}", action.needs()))
        }
        RestError::Refused { status: 404, .. } => never(format!("what it was about is gone: {error}")),
        RestError::Refused { .. } => never(error.to_string()),
    }
}

/// The token is valid, but not for this.
fn wrong_token() -> String {
    format!("the token is not accepted for this: copy the token of this very bot from {PORTAL} (Bot, Reset Token)")
}

/// How to fix that the commands cannot be registered.
pub fn registration_advice(error: &RestError) -> String {
    match error {
        RestError::Refused { code: MISSING_ACCESS | MISSING_PERMISSIONS, .. } => {
            "invite the bot again with the scope applications.commands".into()
        }
        RestError::Refused { code: UNAUTHORIZED, .. } | RestError::BadToken => wrong_token(),
        RestError::Refused { status: 404, .. } => "the server does not know slash commands".into(),
        RestError::Refused { status: 400, .. } => "use a newer aizuchi: the server wants them in another form".into(),
        RestError::Refused { .. } | RestError::Unclear(_) | RestError::Broken(_) | RestError::Busy { .. } => {
            "they are registered at the next start".into()
        }
    }
}

/// How to fix that `doctor` gets no answer. `variable` contains the token.
pub fn examination_advice(error: &RestError, variable: &str) -> String {
    match error {
        RestError::BadToken
        | RestError::Refused { status: 401 | 403, .. }
        | RestError::Refused { code: UNAUTHORIZED, .. } => {
            format!("copy the token of this very bot again from {PORTAL} (Bot, Reset Token) into {variable}")
        }
        RestError::Refused { .. } => "check discord.api_url: this server does not know the call".to_owned(),
        RestError::Unclear(_) | RestError::Busy { .. } | RestError::Broken(_) => {
            "check the network, and https://discordstatus.com".to_owned()
        }
    }
}

/// Why the gateway refuses us permanently, with its own words if it gives any.
pub fn close_reason(code: u16, reason: &str) -> String {
    let advice = advice_for_close(code);
    if reason.trim().is_empty() { advice } else { format!("{advice} (Discord says {reason:?})") }
}

fn advice_for_close(code: u16) -> String {
    match code {
        4004 => format!(
            "Discord rejected the bot's token: copy it again, or create a new one at {PORTAL} (Bot, Reset Token), \
             and start aizuchi again"
        ),
        4010 | 4011 => format!("Discord wants another number of connections: set discord.shards to 0 (code {code})"),
        4012 => "this aizuchi speaks a version of the gateway that Discord no longer knows: use a newer one".into(),
        4013 => "Discord does not know an intent that aizuchi asks for: use a newer aizuchi".into(),
        4014 => format!(
            "Discord does not let the bot read messages: switch on \"Message Content Intent\" at {PORTAL} (your \
             application, Bot, Privileged Gateway Intents), and start aizuchi again"
        ),
        _ => format!("Discord closed the connection for good (code {code})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_permission_is_named() {
        let refused = |status, code| RestError::Refused { status, code, what: "Missing".into() };
        let told = |action, error: &RestError| match post_error(action, error) {
            PostError::GiveUp { what } => what,
            later @ PostError::TryLater { .. } => panic!("{later:?}"),
        };
        assert!(told(DiscordAction::Post, &refused(403, 50013)).contains("Send Messages"));
        assert!(told(DiscordAction::React, &refused(403, 50013)).contains("Add Reactions"));
        assert!(told(DiscordAction::Post, &refused(403, 50001)).contains("View Channel"));
        assert!(told(DiscordAction::PostInThread, &refused(403, 1)).contains("Send Messages in Threads"));
        let after = std::time::Duration::from_secs(9);
        let busy = post_error(DiscordAction::Post, &RestError::Busy { after });
        assert!(matches!(busy, PostError::TryLater { after: Some(told), .. } if told == after), "{busy:?}");
    }
}
