//! A message as the platforms hand it over, already in our words.

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
    /// The other people it mentions by the platform's own means.
    pub mentions: Vec<PersonId>,
    pub mentions_me: bool,
    pub visibility: Visibility,
    /// It reached us late because we were away: fetched to fill a gap, or it waited for us.
    pub backfilled: bool,
    /// When it reached us, by the clock that dates it; not known of logs and of records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard: Option<Time>,
}

impl Message {
    /// The time it counts as said at, where it is handled `now`: what is dated ahead of its arrival, as of its arrival.
    pub fn counted_at(&self, now: Time) -> Time {
        self.heard.map_or(self.at, |heard| now - heard.since(self.at))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    pub id: PersonId,
    /// The name people see. May hold anything.
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

/// Somebody gives a message an emoji, or takes it back.
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
    /// The new text; `None` when it was deleted.
    pub text: Option<Box<str>>,
}
