//! Where something is said: a room, or a thread in it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{RoomId, ThreadId};

/// A channel, or a thread in it: the unit that waits, judges and answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub room: RoomId,
    pub thread: Option<ThreadId>,
}

impl Place {
    pub fn room(room: impl AsRef<str>) -> Place {
        Place { room: RoomId::new(room), thread: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.thread {
            None => write!(f, "{}", self.room),
            Some(thread) => write!(f, "{}/{thread}", self.room),
        }
    }
}

/// A room is named `platform:guild/channel`, or shorter: this is the platform's own id of the channel.
pub(crate) fn own_id(room: &str) -> &str {
    room.rsplit(['/', ':']).next().unwrap_or(room)
}

/// Who can read a room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    #[default]
    Public,
    Private,
    Direct,
}

/// A request that is answered by exactly one `Input`. Counted within its room, so that a room behaves the same alone as
/// among others; never reused, so that a platform can refuse a second post with the same id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallId {
    pub room: RoomId,
    pub serial: u64,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.room, self.serial)
    }
}
