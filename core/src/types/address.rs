//! How somebody turned to the bot.

use serde::{Deserialize, Serialize};

/// How somebody turned to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Addressed {
    Mention,
    Name,
    Reply,
    /// It takes part in the conversation, and this is probably for it.
    Turn,
}

/// What was made of words that are about the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeardAs {
    /// Its name is mentioned in passing: it is not called.
    NameInPassing,
    /// It may be called by its name, or not.
    NameUnclear,
    /// Somebody lets it talk again.
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

    /// What a call by this means is worth on the scale of the rules.
    pub fn points(self) -> i16 {
        match self {
            Addressed::Mention | Addressed::Reply => 100,
            Addressed::Name | Addressed::Turn => 80,
        }
    }
}
