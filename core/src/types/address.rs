//! How somebody addressed the bot.

use serde::{Deserialize, Serialize};

/// How somebody addressed the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Addressed {
    Mention,
    Name,
    Reply,
    /// The bot takes part in the conversation, and this is probably for it.
    Turn,
}

/// How words about the bot were understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeardAs {
    /// Its name is mentioned in passing: the bot is not called.
    NameInPassing,
    /// It is unclear whether the bot is called by its name.
    NameUnclear,
    /// Somebody allows the bot to talk again.
    TalkAgain,
}

impl HeardAs {
    pub fn id(self) -> &'static str {
        match self {
            HeardAs::NameInPassing => "name_in_passing",
            HeardAs::NameUnclear => "name_unclear",
            HeardAs::TalkAgain => "talk_again",
        }
    }
}

impl Addressed {
    pub fn id(self) -> &'static str {
        match self {
            Addressed::Mention => "mention",
            Addressed::Name => "name",
            Addressed::Reply => "reply",
            Addressed::Turn => "turn",
        }
    }

    /// The points of such a call on the scale of the rules.
    pub fn points(self) -> i16 {
        match self {
            Addressed::Mention | Addressed::Reply => 100,
            Addressed::Name | Addressed::Turn => 80,
        }
    }
}
