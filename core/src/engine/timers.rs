//! Keyed deadlines, one per place. Moving a deadline later costs nothing: the old one fires, and finds that it is early. Moving
//! it earlier removes the old one: over an hour of talk, deadlines that mean nothing any more would take more memory than the
//! others.

use std::collections::BTreeSet;

use crate::types::{ThreadId, Time};

/// A place, by the index of its room.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub room_index: u32,
    pub thread: Option<ThreadId>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Timers {
    deadlines: BTreeSet<(Time, Key)>,
}

impl Timers {
    /// Arms the place's alarm, which fires at `due` or before. `alarm` is the previous value.
    pub(super) fn arm(&mut self, alarm: &mut Option<Time>, due: Time, key: impl FnOnce() -> Key) {
        let armed = *alarm;
        if armed.is_none_or(|armed| due < armed) {
            *alarm = Some(due);
            let mut deadline = (due, key());
            if let Some(armed) = armed {
                deadline.0 = armed;
                self.deadlines.remove(&deadline);
                deadline.0 = due;
            }
            self.deadlines.insert(deadline);
        }
    }

    /// Restores an alarm after a restart.
    pub(super) fn put(&mut self, at: Time, key: Key) {
        self.deadlines.insert((at, key));
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    pub(super) fn pop_due(&mut self, now: Time) -> Option<(Time, Key)> {
        if self.next()? > now {
            return None;
        }
        self.deadlines.pop_first()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_deadline_leaves_nothing_of_the_later_one() {
        let (mut timers, mut alarm) = (Timers::default(), None);
        let key = || Key { room_index: 1, thread: None };
        for due in [90, 50, 70, 30] {
            timers.arm(&mut alarm, Time(due), key);
        }
        timers.put(Time(60), Key { room_index: 2, thread: None });
        let all: Vec<_> =
            std::iter::from_fn(|| timers.pop_due(Time(100))).map(|(at, key)| (at.0, key.room_index)).collect();
        assert_eq!((all, alarm), (vec![(30, 1), (60, 2)], Some(Time(30))));
    }
}
