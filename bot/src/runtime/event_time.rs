//! When something is handled: at the time it carries if that is recent, and never earlier than the previous input, unless
//! the engine gets an input saying that the clock was set.

use std::sync::Arc;

use aizuchi_core::types::{ClockShift, RoomId};
use aizuchi_core::{Input, Time};

use super::RuntimeContext;
use super::clock::ClockReading;

/// The maximum age of an event that is handled at its own time.
const FRESH_MS: u64 = 2_000;

/// When an event is handled, and what a message says about that.
#[derive(Clone, Copy, Debug)]
pub struct EventTime {
    pub at: Time,
    /// When it arrived, by the clock that dates it.
    heard: Option<Time>,
    /// Whether it is late because the bot was not there to receive it.
    was_away: bool,
}

impl EventTime {
    pub fn put_on(&self, input: &mut Input) {
        if let Input::Said(message) = input {
            message.heard = self.heard.or(message.heard);
            message.backfilled |= self.was_away;
        }
    }
}

/// The times of one engine.
pub struct EventTimes {
    context: Arc<RuntimeContext>,
    /// When the last input was handled.
    last: Time,
    /// The total adjustment of the clock that the engine knows about.
    set_by: ClockShift,
    /// Since when there has continuously been something to handle.
    busy_since: Option<Time>,
}

impl EventTimes {
    pub fn new(context: Arc<RuntimeContext>) -> EventTimes {
        EventTimes { context, last: Time(0), set_by: ClockShift(0), busy_since: None }
    }

    pub fn last(&self) -> Time {
        self.last
    }

    /// Starts at the last record.
    pub fn begin(&mut self, last: Time) {
        (self.last, self.set_by) = (last, self.context.clock.read().set_by);
    }

    /// The input that reports an adjustment of the clock, if there was one.
    pub fn notice(&mut self) -> Option<(Time, Input)> {
        let reading = self.context.clock.read();
        let by = ClockShift(reading.set_by.0 - self.set_by.0);
        if by == ClockShift(0) {
            return None;
        }
        (self.set_by, self.busy_since) = (reading.set_by, self.busy_since.map(|since| since.shifted(by)));
        let mut set = Input::ClockSet(by);
        Some((self.stamp(&mut set), set))
    }

    /// The time by the clock as the engine knows it.
    pub fn now(&self) -> Time {
        let ClockReading { now, set_by } = self.context.clock.read();
        now.shifted(ClockShift(self.set_by.0 - set_by.0)).max(self.last)
    }

    /// Nothing is waiting.
    pub fn note_idle(&mut self) {
        self.busy_since = None;
    }

    /// An event is handled at the time it carries, so that a replay of the talk decides the same; one that is late, or
    /// dated in the future, is handled as of now.
    pub fn stamp(&mut self, input: &mut Input) -> Time {
        if let Input::ClockSet(by) = input {
            // The same instant by the new clock.
            self.last = self.last.shifted(*by);
            return self.last;
        }
        let stamp = self.stamp_event(input.room(), said_at(input));
        stamp.put_on(input);
        stamp.at
    }

    /// The same for an event that is not fully known yet: something that happened in a room at `said_at`.
    pub fn stamp_event(&mut self, room: Option<&RoomId>, said_at: Option<Time>) -> EventTime {
        let now = self.now();
        let ahead = room.map_or(ClockShift(0), |room| self.ahead_of(room, said_at));
        let fresh = |at: &Time| *at <= now && now.0 - at.0 <= FRESH_MS;
        let said_at = said_at.map(|at| at.shifted(ahead));
        self.last = said_at.filter(fresh).map_or(now, |at| at.max(self.last));
        let heard = said_at.map(|_| self.last.shifted(ClockShift(-ahead.0)));
        let was_away = room.zip(said_at).is_some_and(|(room, at)| self.was_away(room, at));
        self.busy_since.get_or_insert(now);
        EventTime { at: self.last, heard, was_away }
    }

    /// How far our clock is ahead of the one that dates this: a platform's, or ours before it was set.
    fn ahead_of(&self, room: &RoomId, said_at: Option<Time>) -> ClockShift {
        let told = self.context.clock.read().set_by == self.set_by;
        match said_at {
            Some(at) if told && self.is_dated_by_us(room) => self.context.clock.set_since(at),
            Some(_) | None => {
                self.context.platform(room.as_str()).map_or(ClockShift(0), |platform| platform.clock_ahead())
            }
        }
    }

    /// Whether a message is late because the bot was not there to receive it, or because too much was waiting. What our own
    /// clock dates is late for no other reason.
    fn was_away(&self, room: &RoomId, at: Time) -> bool {
        self.last.0.saturating_sub(at.0) > FRESH_MS
            && (self.is_dated_by_us(room)
                || at < self.context.clock.here_since()
                || self.busy_since.is_some_and(|since| at >= since))
    }

    /// Whether messages in this room carry the time of our own clock.
    fn is_dated_by_us(&self, room: &RoomId) -> bool {
        self.context.platform(room.as_str()).is_some_and(|platform| platform.dates_by_our_clock())
    }
}

/// When people did it, if that is known.
fn said_at(input: &Input) -> Option<Time> {
    match input {
        Input::Said(message) => Some(message.at),
        Input::Changed(change) => Some(change.at),
        Input::Reacted(reaction) => Some(reaction.at),
        Input::Told(..)
        | Input::PolicyChanged(_)
        | Input::Tick
        | Input::Resumed
        | Input::Judged(..)
        | Input::Written(..)
        | Input::ToolCalls(..)
        | Input::ToolResult(..)
        | Input::Delivered(..)
        | Input::Recalled(..)
        | Input::Remembered(..)
        | Input::Refused(..)
        | Input::Scheduled(..)
        | Input::Billed(..)
        | Input::Siblings(..)
        | Input::StartedOver(_)
        | Input::LetGo(..)
        | Input::Forgotten
        | Input::ClockSet(_) => None,
    }
}
