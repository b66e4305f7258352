//! The protocol between the page and the server over the web socket: one JSON object per frame.

use aizuchi_core::types::Voice;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::commands::{BotInfo, CommandOffer};

/// From the page. `key` is the page's own id for what it sends: if it is sent again after a broken connection, it is
/// accepted once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum FromPage {
    /// The first frame. `since` is the last `seq` the page has of this room; 0 requests the recent history. Without a room
    /// it is the first of the settings, without a language (its id) the browser's.
    Enter {
        #[serde(default)]
        room: String,
        name: String,
        #[serde(default)]
        language: Option<String>,
        #[serde(default)]
        person: Option<String>,
        #[serde(default)]
        since: u64,
    },
    /// A text that begins with a slash is a command and is answered with a notice to this page alone.
    Say {
        key: String,
        text: String,
        #[serde(default)]
        thread: Option<String>,
        #[serde(default)]
        reply_to: Option<String>,
    },
    Edit {
        key: String,
        id: String,
        text: String,
    },
    Delete {
        key: String,
        id: String,
    },
    React {
        key: String,
        id: String,
        emoji: String,
        on: bool,
    },
    Typing {
        #[serde(default)]
        thread: Option<String>,
    },
    /// Older messages than the one whose `order` is `before`.
    History {
        before: u64,
    },
    /// Plays a sample conversation in a room of its own and moves the page there.
    Sample {
        language: String,
    },
    /// The decision about a message, from the store.
    Why {
        id: String,
    },
    /// Closes the room the page is in, for everybody and for good. It names the room, so that nothing else is closed.
    Close {
        key: String,
        room: String,
    },
}

/// The maximum length of ids that we assigned, with some margin.
const ID_BYTES_MAX: usize = 64;
/// Keys, and names of people and rooms: one that is slightly too long is refused with a message that says how long it may
/// be.
const NAME_BYTES_MAX: usize = 1000;

impl FromPage {
    /// Whether no field is longer than any valid value. Texts have a limit of their own.
    pub fn fits(&self) -> bool {
        let id = |id: &str| id.len() <= ID_BYTES_MAX;
        let name = |name: &str| name.len() <= NAME_BYTES_MAX;
        let optional = |given: &Option<String>| given.as_deref().is_none_or(id);
        match self {
            FromPage::Enter { room, name: called, language, person, since: _ } => {
                name(room) && name(called) && optional(language) && optional(person)
            }
            FromPage::Say { key, text: _, thread, reply_to } => name(key) && optional(thread) && optional(reply_to),
            FromPage::Edit { key, id: of, text: _ } | FromPage::Delete { key, id: of } => name(key) && id(of),
            FromPage::React { key, id: of, emoji, on: _ } => name(key) && id(of) && name(emoji),
            FromPage::Typing { thread } => optional(thread),
            FromPage::History { before: _ } => true,
            FromPage::Sample { language } => id(language),
            FromPage::Why { id: of } => id(of),
            FromPage::Close { key, room } => name(key) && name(room),
        }
    }
}

/// From the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "tell", rename_all = "snake_case")]
pub enum FromServer {
    /// Answers `enter`. `person` is the secret to enter with again, `you` the `author_id` that everybody sees.
    Hello {
        person: String,
        you: String,
        room: String,
        /// Those of the settings first, in their order.
        rooms: Vec<String>,
        bot: Box<BotInfo>,
        /// The commands available here, in the page's language.
        commands: Vec<CommandOffer>,
        /// Whether this page may close the room.
        may_close: bool,
        /// A longer text is refused; one that is far longer ends the connection before it is read.
        message_chars_max: u32,
        now: u64,
        version: &'static str,
    },
    /// A message, new or from history; the same `seq` is never sent twice to a page that keeps count. A page that already
    /// has a message of this id replaces it.
    Said {
        seq: u64,
        message: Box<WirePost>,
    },
    /// A message in its current state, after an edit, a deletion or a reaction.
    Changed {
        seq: u64,
        message: Box<WirePost>,
    },
    /// Everything up to here has been sent.
    CaughtUp {
        seq: u64,
        more_before: bool,
    },
    Typing {
        name: String,
        thread: Option<String>,
    },
    /// A decision is final: `trace` is the line of a decisions file.
    Decided {
        trace: Value,
    },
    /// What is pending, who has the floor: `aizuchi_core::view::RoomView`.
    View {
        view: Value,
        now: u64,
    },
    Rooms {
        rooms: Vec<String>,
    },
    /// Move to this room.
    Moved {
        room: String,
    },
    /// The room is gone, with everything that was said in it.
    Closed {
        room: String,
    },
    /// For this page alone.
    Notice {
        text: String,
    },
    /// `key` was accepted and is durable.
    Taken {
        key: String,
        id: Option<String>,
    },
    /// `again`: the same request may succeed a little later.
    Refused {
        key: Option<String>,
        why: String,
        again: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WirePost {
    pub id: String,
    /// Its position in the room: grows from message to message and never changes.
    pub order: u64,
    pub at: u64,
    pub author_id: String,
    pub author: String,
    pub voice: Voice,
    /// Empty if it was deleted.
    pub text: String,
    pub thread: Option<String>,
    pub reply_to: Option<String>,
    pub edited: bool,
    pub deleted: bool,
    /// Emoji with the names of those who gave it, in order of arrival.
    pub reactions: Vec<(String, Vec<String>)>,
}
