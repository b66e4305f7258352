//! How people respond to what the bot says.

use serde::{Deserialize, Serialize};

/// People's response to a contribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    Thanked,
    Answered,
    /// Given an emoji.
    Reacted,
    Ignored,
    ToldOff,
    Deleted,
}

impl Response {
    pub const ALL: [Response; 6] = [
        Response::Thanked,
        Response::Answered,
        Response::Reacted,
        Response::Ignored,
        Response::ToldOff,
        Response::Deleted,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Response::Thanked => "thanked",
            Response::Answered => "answered",
            Response::Reacted => "reacted to",
            Response::Ignored => "ignored",
            Response::ToldOff => "told off",
            Response::Deleted => "deleted",
        }
    }
}
