//! The progress of an answer in several posts.

use serde::{Deserialize, Serialize};

use super::Cause;
use crate::types::{ClockShift, Span, Time};

/// An answer in several posts, of which people see the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkProgress {
    /// The total number of posts.
    pub of: u32,
    /// When the posts after the first were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<Time>,
    /// Why the others do not follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<RestStopped>,
}

impl ChunkProgress {
    /// Posts that people see.
    pub fn posted(&self) -> u32 {
        1 + self.later.len() as u32
    }

    pub(super) fn set_clock(&mut self, by: ClockShift) {
        self.later.iter_mut().for_each(|at| *at = at.shifted(by));
    }
}

/// Why the rest of an answer is not posted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RestStopped {
    /// By a mute, by words or because the channel is switched off.
    Muted,
    /// The message it answers was deleted, or one of its posts.
    Deleted,
    /// The talk was reset, or the person who asked wants to be forgotten.
    Forgotten,
    /// The program was down for too long.
    Overdue(Span),
    Failed(Box<str>),
}

/// The same if nothing of the answer was posted. The gate says what a mute stopped.
impl From<RestStopped> for Cause {
    fn from(stopped: RestStopped) -> Cause {
        match stopped {
            RestStopped::Muted => Cause::Closed(super::Closed::default()),
            RestStopped::Deleted => Cause::Deleted,
            RestStopped::Forgotten => Cause::Forgotten,
            RestStopped::Overdue(overdue) => Cause::Stale { overdue },
            RestStopped::Failed(what) => Cause::Failed { what },
        }
    }
}
