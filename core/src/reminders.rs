//! What the bot is to say at a certain time: reminders that people asked for, and schedules of the settings.

use serde::{Deserialize, Serialize};

use crate::types::{ClockShift, MessageId, PersonId, Span, ThreadId, Time};

/// What is to be said, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewReminder {
    pub due: Time,
    /// Whether `due` is a time of day, which stays when the clock is set, as opposed to a duration from now.
    pub by_clock: bool,
    pub content: ReminderContent,
    /// The schedule of the settings that it belongs to; `None` if a person asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReminderContent {
    Text(Box<str>),
    /// What a model is to write then. Only the settings have these.
    Prompt(Box<str>),
}

/// A reminder of a room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reminder {
    /// The number with which people cancel it; never used again in this room.
    pub number: u32,
    pub thread: Option<ThreadId>,
    pub set: NewReminder,
    /// Who asked for it, and with which message.
    pub asked: Option<ReminderAsker>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReminderAsker {
    pub person: PersonId,
    pub name: Box<str>,
    pub message: MessageId,
}

/// A reminder as it is posted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReminderPost {
    pub text: Box<str>,
    /// Who asked for it; none for a schedule.
    pub asked_by: Option<Box<str>>,
    pub due: Time,
    pub is_late: bool,
}

/// If it is posted later than this, it says so.
pub(crate) const LATE: Span = Span::minutes(2);
/// How often it is retried while the bot may not speak.
pub(crate) const AGAIN: Span = Span::minutes(1);

impl Reminder {
    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        if !self.set.by_clock {
            self.set.due = self.set.due.shifted(by);
        }
    }

    /// When it is to be checked after `now`: when it is due, or a whole number of minutes later.
    pub(crate) fn next_look(&self, now: Time) -> Time {
        let due = self.set.due;
        if due > now {
            return due;
        }
        let over = now.since(due).0;
        Time(due.0 + (over / AGAIN.0 + 1) * AGAIN.0)
    }
}

/// The reminders of one room.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reminders {
    pub list: Vec<Reminder>,
    /// The highest number ever used.
    pub last_number: u32,
}

impl Reminders {
    /// Adds one, or replaces the next one of the same schedule. One that is already due is not replaced.
    pub(crate) fn add(&mut self, now: Time, thread: Option<ThreadId>, set: NewReminder, asked: Option<ReminderAsker>) {
        if set.schedule.is_some() {
            self.list.retain(|known| known.set.schedule != set.schedule || known.set.due <= now);
            if self.list.iter().any(|known| known.set.schedule == set.schedule && known.set.due == set.due) {
                return;
            }
        }
        self.last_number += 1;
        self.list.push(Reminder { number: self.last_number, thread, set, asked });
        self.list.sort_by_key(|reminder| (reminder.set.due, reminder.number));
    }

    /// How many of them people asked for.
    pub(crate) fn asked_for(&self) -> usize {
        self.list.iter().filter(|reminder| reminder.asked.is_some()).count()
    }

    pub(crate) fn cancel(&mut self, number: u32) {
        self.list.retain(|reminder| reminder.number != number);
    }
}
