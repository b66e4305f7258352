//! What a model may look up or do while it writes an answer, and the results.
//!
//! A model that writes may request tools instead of answering. The shell says what each call would do ([`ToolAccess`]), the
//! engine decides whether it runs, and the shell runs it. Both are inputs, so that a replay calls nothing.

use serde::{Deserialize, Serialize};

use crate::reminders::NewReminder;
use crate::settings::ToolSettings;
use crate::types::{CallId, MessageId, PersonId, Place, Span, Time};

/// One call that a model requested.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's own id; the result is sent back under it.
    pub id: Box<str>,
    pub name: Box<str>,
    /// JSON, as the model wrote it.
    pub arguments: Box<str>,
    pub access: ToolAccess,
    /// Data that some providers require back with the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<Box<str>>,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolAccess {
    Reads,
    Writes,
    /// There is no tool of this name, or its arguments are invalid.
    Invalid,
}

/// The output of a tool. It is data, as people's words are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    pub text: Box<str>,
    /// Whether outsiders may have written it: a web page, another program's answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_outside: bool,
    /// A reminder that it sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reminder: Option<Box<NewReminder>>,
}

impl ToolOutput {
    /// Output that outsiders may have written.
    pub fn from_outside(text: impl Into<Box<str>>) -> ToolOutput {
        ToolOutput { from_outside: true, ..ToolOutput::own(text) }
    }

    /// Output that no outsider wrote.
    pub fn own(text: impl Into<Box<str>>) -> ToolOutput {
        ToolOutput { text: text.into(), from_outside: false, reminder: None }
    }
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolOutcome {
    Returned(ToolOutput),
    Failed(Box<str>),
    /// It was not run, for this reason.
    Denied(Denial),
    /// The program ended, or the answer was started again, while it ran: it may have been carried out.
    Interrupted,
}

/// Why a call is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Denial {
    /// There is no such tool, or not with these arguments.
    Invalid,
    /// The settings of the room forbid it.
    Policy,
    /// Nobody asked for this contribution, and the tool changes something.
    Unasked,
    /// The limit of calls for one answer, or for one person in an hour, is reached.
    TooMany,
    /// The call is too long to be shown to people for approval.
    TooLong,
    /// A person with the permission said no.
    Refused,
    /// Nobody said yes in time.
    Expired,
}

impl Denial {
    /// The reason as the model sees it.
    pub fn reason(self) -> &'static str {
        match self {
            Denial::Invalid => "there is no such tool, or its arguments are not valid",
            Denial::Policy => "the settings of this room do not allow this tool",
            Denial::Unasked => "only tools that change nothing may be used here, because nobody asked",
            Denial::TooMany => "the limit for tool calls is reached",
            Denial::TooLong => "its arguments are too long to be shown to the people who have to approve it",
            Denial::Refused => "a person refused this call",
            Denial::Expired => "nobody approved this call in time",
        }
    }
}

/// A call within an answer, and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolStep {
    pub call: ToolCall,
    /// Calls of one round were requested together.
    pub round: u32,
    /// `None` until it has ended.
    pub outcome: Option<ToolOutcome>,
    #[serde(default)]
    pub took: Span,
    /// Who agreed to it or refused it, if somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<PersonId>,
}

impl ToolStep {
    /// Its result as text; if it did not run, why.
    pub fn words(&self) -> &str {
        match &self.outcome {
            Some(ToolOutcome::Returned(output)) => &output.text,
            Some(ToolOutcome::Failed(what)) => what,
            Some(ToolOutcome::Denied(why)) => why.reason(),
            Some(ToolOutcome::Interrupted) => "interrupted: it may or may not have been carried out; do not repeat it",
            None => "",
        }
    }

    pub fn is_from_outside(&self) -> bool {
        matches!(&self.outcome, Some(ToolOutcome::Returned(output)) if output.from_outside)
    }
}

/// How much of a call a question to people can show.
pub const SHOWN_CHARS_MAX: usize = 1_200;

/// The arguments of a call for display in a question: all of them, with JSON's own escapes for invisible characters, for
/// those that change the text direction, and for what would end the frame around them. `None` if they are too long to be
/// shown.
pub fn shown_arguments(arguments: &str) -> Option<String> {
    let mut shown = String::new();
    for c in arguments.chars() {
        let mut units = [0; 2];
        match c {
            '`' => shown += "\\u0060",
            '\n' | '\r' | '\t' => shown.push(' '),
            c if is_seen(c) => shown.push(c),
            c => c.encode_utf16(&mut units).iter().for_each(|unit| shown += &format!("\\u{unit:04x}")),
        }
    }
    (shown.chars().count() <= SHOWN_CHARS_MAX).then_some(shown)
}

/// Whether a character is visible everywhere.
fn is_seen(c: char) -> bool {
    let is_unseen = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    );
    !is_unseen && !c.is_control() && (c == ' ' || !c.is_whitespace() || c == '\u{3000}')
}

/// Which tools the writer of an answer may be offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolOffer {
    #[default]
    None,
    /// Those that change nothing.
    Reading,
    All,
}

/// The request to run a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOrder {
    pub call: CallId,
    pub at: Time,
    pub place: Place,
    pub tool: ToolCall,
    /// The message that is being answered, and who wrote it.
    pub answering: MessageId,
    pub asker: PersonId,
    /// The timeout.
    pub timeout: Span,
    /// Longer results are truncated.
    pub result_chars: u32,
}

/// The reaction that approves a tool call, and the one that refuses it.
pub const APPROVE: &str = "✅";
pub const REFUSE: &str = "❌";

/// What the settings say about a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolPermission {
    Allow,
    /// A person has to agree to each call.
    Ask,
    Deny,
}

impl ToolSettings {
    /// The permission of a tool; by default, tools that change nothing are allowed and the others need approval.
    pub fn permission(&self, name: &str, access: ToolAccess) -> ToolPermission {
        let names = |list: &[String]| list.iter().any(|pattern| is_named(pattern, name));
        match () {
            () if names(&self.deny) => ToolPermission::Deny,
            () if names(&self.ask) => ToolPermission::Ask,
            () if names(&self.allow) || access == ToolAccess::Reads => ToolPermission::Allow,
            () => ToolPermission::Ask,
        }
    }
}

/// A name, or a prefix followed by a star.
pub fn is_named(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == name, |start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_shown_every_character_of_what_they_approve() {
        assert_eq!(shown_arguments(r#"{"text": "お茶 & tea"}"#).unwrap(), r#"{"text": "お茶 & tea"}"#);
        let hidden = "{\"a\": \"x`y\u{202e}z\u{200b}\u{e0041}\"}";
        assert_eq!(shown_arguments(hidden).unwrap(), r#"{"a": "x\u0060y\u202ez\u200b\udb40\udc41"}"#);
        let same = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(same(&shown_arguments(hidden).unwrap()), same(hidden), "it means the same");
        let long = format!("{{\"a\": \"{}\"}}", "x".repeat(SHOWN_CHARS_MAX));
        assert_eq!(shown_arguments(&long), None);
    }
}
