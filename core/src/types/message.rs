//! A message as the platforms pass it on, already in our terms.

use serde::{Deserialize, Serialize};

use super::{MessageId, PersonId, Place, Time, Visibility};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub place: Place,
    pub at: Time,
    pub author: Author,
    pub text: Box<str>,
    pub reply: Option<Reply>,
    /// The other people it mentions by the platform's own mentions.
    pub mentions: Vec<PersonId>,
    pub mentions_me: bool,
    pub visibility: Visibility,
    /// It arrived late because the bot was away: it was fetched to fill a gap, or waited for the bot.
    pub backfilled: bool,
    /// When it arrived, by the clock that dates it; unknown for logs and for records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Time>,
}

impl Message {
    /// The time it counts as said at, if it is handled `now`: one dated ahead of its arrival counts as of its arrival.
    pub fn counted_at(&self, now: Time) -> Time {
        self.heard.map_or(self.at, |heard| now - heard.since(self.at))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub id: PersonId,
    /// The name people see. May contain anything.
    pub name: Box<str>,
    pub voice: Voice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Voice {
    Person,
    Bot,
    Me,
}

/// The platform's reply link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    pub to: Option<MessageId>,
    pub to_me: bool,
    pub to_person: Option<PersonId>,
}

/// Somebody adds or removes a reaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reaction {
    pub place: Place,
    pub message: MessageId,
    pub at: Time,
    pub by: PersonId,
    pub emoji: Box<str>,
    pub on: bool,
}

/// A later change to a message that was said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub place: Place,
    pub id: MessageId,
    pub at: Time,
    /// The new text; `None` if it was deleted.
    pub text: Option<Box<str>>,
}
