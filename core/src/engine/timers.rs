//! Keyed deadlines, at most one per place. Moving a deadline later costs nothing: the old one fires, and finds that it is
//! early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::types::{ThreadId, Time};

/// A place, by the number of its room.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub room: u32,
    pub thread: Option<ThreadId>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    heap: BinaryHeap<Reverse<(Time, Key)>>,
}

impl Timers {
    /// Arms the place's alarm, which fires at `due` or before. `alarm` is the previous value.
    pub(super) fn arm(&mut self, alarm: &mut Option<Time>, due: Time, key: impl FnOnce() -> Key) {
        if alarm.is_none_or(|armed| due < armed) {
            *alarm = Some(due);
            self.put(due, key());
        }
    }

    /// Restores an alarm after a restart.
    pub(super) fn put(&mut self, at: Time, key: Key) {
        self.heap.push(Reverse((at, key)));
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    pub(super) fn pop_due(&mut self, now: Time) -> Option<(Time, Key)> {
        if self.next()? > now {
            return None;
        }
        self.heap.pop().map(|Reverse(entry)| entry)
    }
}
