//! What to do about troubles, in words for whoever runs the bot.

use crate::ports::PostError;

use super::rest::Trouble;

/// Where the switches are.
pub const PORTAL: &str = "https://discord.com/developers/applications";

/// What was tried, for naming the permission it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    Post,
    PostInThread,
    React,
    Look,
}

impl Deed {
    fn needs(self) -> &'static str {
        match self {
            Deed::Post => "Send Messages",
            Deed::PostInThread => "Send Messages in Threads",
            Deed::React => "Add Reactions and Read Message History",
            Deed::Look => "Read Message History",
        }
    }
}

const MISSING_ACCESS: u64 = 50001;
const UNAUTHORIZED: u64 = 40001;
const MISSING_PERMISSIONS: u64 = 50013;
const THREAD_ARCHIVED: u64 = 50083;
const THREAD_LOCKED: u64 = 160_005;

pub fn post_error(deed: Deed, trouble: &Trouble) -> PostError {
    let later = |after| PostError::TryLater { after, what: trouble.to_string() };
    let never = |what: String| PostError::GiveUp { what };
    match trouble {
        Trouble::Unclear(_) | Trouble::Broken(_) => later(None),
        Trouble::Busy { after } => later(Some(*after)),
        Trouble::BadToken => never(trouble.to_string()),
        Trouble::Refused { code: MISSING_ACCESS, .. } => {
            never("the bot can not see this channel: give it the permission View Channel".into())
        }
        Trouble::Refused { code: MISSING_PERMISSIONS, .. } => {
            never(format!("the bot lacks a permission in this channel: give it {}", deed.needs()))
        }
        Trouble::Refused { code: UNAUTHORIZED, .. } => never(format!("{trouble}; {}", wrong_token())),
        Trouble::Refused { code: THREAD_ARCHIVED | THREAD_LOCKED, .. } => never("the thread is closed".into()),
        Trouble::Refused { status: 403, .. } => {
            never(format!("{trouble}; what it needs here is the permission {}", deed.needs()))
        }
        Trouble::Refused { status: 404, .. } => never(format!("what it was about is gone: {trouble}")),
        Trouble::Refused { .. } => never(trouble.to_string()),
    }
}

/// The token is good for something, and not for this.
fn wrong_token() -> String {
    format!("the token is not accepted for this: copy the token of this very bot from {PORTAL} (Bot, Reset Token)")
}

/// What to do when the commands cannot be registered.
pub fn registration_advice(trouble: &Trouble) -> String {
    match trouble {
        Trouble::Refused { code: MISSING_ACCESS | MISSING_PERMISSIONS, .. } => {
            "invite the bot again with the scope applications.commands".into()
        }
        Trouble::Refused { code: UNAUTHORIZED, .. } | Trouble::BadToken => wrong_token(),
        Trouble::Refused { status: 404, .. } => "the server does not know slash commands".into(),
        Trouble::Refused { status: 400, .. } => "use a newer aizuchi: the server wants them in another form".into(),
        Trouble::Refused { .. } | Trouble::Unclear(_) | Trouble::Broken(_) | Trouble::Busy { .. } => {
            "they are registered at the next start".into()
        }
    }
}

/// What to do when `doctor` learns nothing. `variable` holds the token.
pub fn examination_advice(trouble: &Trouble, variable: &str) -> String {
    match trouble {
        Trouble::BadToken
        | Trouble::Refused { status: 401 | 403, .. }
        | Trouble::Refused { code: UNAUTHORIZED, .. } => {
            format!("copy the token of this very bot again from {PORTAL} (Bot, Reset Token) into {variable}")
        }
        Trouble::Refused { .. } => "check discord.api_url: this server does not know the call".to_owned(),
        Trouble::Unclear(_) | Trouble::Busy { .. } | Trouble::Broken(_) => {
            "check the network, and https://discordstatus.com".to_owned()
        }
    }
}

/// Why the gateway sends us away for good, with its own words where it has any.
pub fn farewell(code: u16, reason: &str) -> String {
    let advice = advice_for_close(code);
    if reason.trim().is_empty() { advice } else { format!("{advice} (Discord says {reason:?})") }
}

fn advice_for_close(code: u16) -> String {
    match code {
        4004 => format!(
            "Discord does not accept the bot's token: copy it again, or make a new one at {PORTAL} (Bot, Reset Token), \
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
        let refused = |status, code| Trouble::Refused { status, code, what: "Missing".into() };
        let told = |deed, trouble: &Trouble| match post_error(deed, trouble) {
            PostError::GiveUp { what } => what,
            later @ PostError::TryLater { .. } => panic!("{later:?}"),
        };
        assert!(told(Deed::Post, &refused(403, 50013)).contains("Send Messages"));
        assert!(told(Deed::React, &refused(403, 50013)).contains("Add Reactions"));
        assert!(told(Deed::Post, &refused(403, 50001)).contains("View Channel"));
        assert!(told(Deed::PostInThread, &refused(403, 1)).contains("Send Messages in Threads"));
        let after = std::time::Duration::from_secs(9);
        let busy = post_error(Deed::Post, &Trouble::Busy { after });
        assert!(matches!(busy, PostError::TryLater { after: Some(told), .. } if told == after), "{busy:?}");
    }
}
