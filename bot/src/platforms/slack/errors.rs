//! What Slack's errors mean, and how a person can fix them.

use std::time::Duration;

use crate::ports::PostError;

/// Why a call to Slack failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiError {
    #[error("rate limited by Slack for {after:?}")]
    Limited { after: Duration },
    /// Slack's own error code, such as `channel_not_found`, and the missing scope.
    #[error("{}", describe_error(error, needed.as_deref()))]
    Refused { error: String, needed: Option<String> },
    /// It was never sent.
    #[error("cannot reach Slack: {0}")]
    NotSent(String),
    /// The token was refused, but accepted on the next attempt.
    #[error("Slack refused the token for one call only: {0}")]
    Disputed(String),
    /// It may have been done or not.
    #[error("Slack did not answer: {0}")]
    NoAnswer(String),
}

const TOKENS: &str = "copy the tokens again from api.slack.com/apps (OAuth & Permissions: xoxb-…; Basic Information, \
                      App-Level Tokens: xapp-…)";

/// Errors about a token that is not, or no longer, valid.
const OF_TOKEN: &[&str] = &["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired"];

/// Errors that only a person can fix.
const HOPELESS: &[(&str, &str)] = &[
    ("invalid_auth", "Slack rejected the token"),
    ("not_authed", "there is no token"),
    ("account_inactive", "the app was removed from the workspace, or its account is inactive: install it again"),
    ("token_revoked", "the token was revoked: install the app again"),
    ("token_expired", "the token has expired: install the app again"),
    ("not_allowed_token_type", "this is another kind of token: the bot's begins with xoxb-, the app's with xapp-"),
    ("missing_scope", "the app lacks a permission"),
    ("no_permission", "the app lacks a permission"),
    ("access_denied", "the workspace does not allow the app: ask an administrator"),
    ("org_login_required", "the workspace is being moved: try again when that is done"),
    ("team_access_not_granted", "the app is not approved in this workspace: ask an administrator"),
    ("forbidden_team", "the app is not allowed in this workspace"),
    ("link_disabled", "Socket Mode is off for the app: enable it at api.slack.com/apps, Socket Mode"),
    ("socket_mode_disabled", "Socket Mode is off for the app: enable it at api.slack.com/apps, Socket Mode"),
];

/// Errors about one channel or message.
const LOCAL: &[(&str, &str)] = &[
    ("channel_not_found", "there is no such channel, or the app is not in it: /invite it there"),
    ("not_in_channel", "the app is not in the channel: /invite it there"),
    ("is_archived", "the channel is archived"),
    ("message_not_found", "the message was deleted"),
    ("thread_not_found", "the thread was deleted"),
    ("msg_too_long", "the post is too long"),
    ("no_text", "there is nothing to post"),
    ("restricted_action", "the workspace does not allow the app to post there: ask an administrator"),
    ("restricted_action_read_only_channel", "the channel is read-only"),
    ("restricted_action_thread_only_channel", "only answers in threads are allowed in the channel"),
    ("cannot_reply_to_message", "this message cannot be answered in a thread"),
    ("too_many_reactions", "the message has too many reactions"),
    ("invalid_name", "the workspace does not have this emoji"),
];

/// Temporary errors on Slack's side.
const PASSING: &[&str] =
    &["internal_error", "fatal_error", "service_unavailable", "request_timeout", "rollup_error", "team_added_to_org"];

/// In words that say what to do.
pub fn describe_error(error: &str, needed: Option<&str>) -> String {
    let known = HOPELESS.iter().chain(LOCAL).find(|(name, _)| *name == error).map(|(_, words)| *words);
    match (known, needed) {
        (_, Some(scope)) => format!(
            "the app lacks the scope {scope} ({error}): add it at api.slack.com/apps, OAuth & Permissions, and \
             install the app again"
        ),
        (Some(words), None) if ["invalid_auth", "not_authed"].contains(&error) => {
            format!("{words} ({error}): {TOKENS}")
        }
        (Some(words), None) => format!("{words} ({error})"),
        (None, None) => format!("Slack refused the request: {error}"),
    }
}

impl ApiError {
    /// Only a person can help.
    pub fn is_hopeless(&self) -> bool {
        matches!(self, ApiError::Refused { error, .. } if HOPELESS.iter().any(|(name, _)| name == error))
    }

    /// The token is not, or no longer, valid.
    pub fn is_about_token(&self) -> bool {
        matches!(self, ApiError::Refused { error, .. } if OF_TOKEN.contains(&error.as_str()))
    }

    /// Whether the request was certainly not carried out.
    pub fn is_certain(&self) -> bool {
        match self {
            ApiError::Limited { .. } | ApiError::NotSent(_) | ApiError::Disputed(_) => true,
            ApiError::Refused { error, .. } => !PASSING.contains(&error.as_str()),
            ApiError::NoAnswer(_) => false,
        }
    }
}

impl From<ApiError> for PostError {
    fn from(error: ApiError) -> PostError {
        let what = error.to_string();
        match error {
            ApiError::Limited { after } => PostError::TryLater { after: Some(after), what },
            ApiError::Refused { error, .. } if !PASSING.contains(&error.as_str()) => PostError::GiveUp { what },
            ApiError::Refused { .. } | ApiError::NotSent(_) | ApiError::Disputed(_) | ApiError::NoAnswer(_) => {
                PostError::TryLater { after: None, what }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_to_do() {
        assert!(describe_error("missing_scope", Some("reactions:write")).contains("lacks the scope reactions:write"));
        assert!(describe_error("invalid_auth", None).contains("xapp-"));
        assert!(describe_error("not_in_channel", None).contains("/invite"));
        assert_eq!(describe_error("something_new", None), "Slack refused the request: something_new");
    }

    #[test]
    fn only_what_passes_is_tried_again() {
        let refused = |error: &str| PostError::from(ApiError::Refused { error: error.into(), needed: None });
        assert!(matches!(refused("is_archived"), PostError::GiveUp { .. }));
        assert!(matches!(refused("something_new"), PostError::GiveUp { .. }));
        assert!(matches!(refused("internal_error"), PostError::TryLater { after: None, .. }));
        let limited = PostError::from(ApiError::Limited { after: Duration::from_secs(7) });
        assert!(matches!(limited, PostError::TryLater { after: Some(after), .. } if after.as_secs() == 7));
    }
}
