//! How far our clock is ahead of a platform's, according to its responses: messages are dated by theirs, and must not seem
//! late because ours is wrong.

use std::sync::{Mutex, PoisonError};

use aizuchi_core::Time;
use aizuchi_core::types::{ClockShift, Span};
use reqwest::header::{DATE, HeaderMap};

use crate::runtime::{Clock, ClockReading};

/// Responses are dated to the second and take a while: a smaller difference counts as none.
const CLOSE_ENOUGH: Span = Span::seconds(5);

/// Tracks the dates of responses.
#[derive(Debug)]
pub struct ServerClock {
    whose: &'static str,
    clock: Clock,
    seen: Mutex<Option<ObservedOffset>>,
}

/// What a response revealed.
#[derive(Clone, Copy, Debug)]
struct ObservedOffset {
    ahead: ClockShift,
    /// How far our clock had been adjusted at that time.
    set_by: ClockShift,
}

impl ServerClock {
    pub fn new(whose: &'static str, clock: Clock) -> ServerClock {
        ServerClock { whose, clock, seen: Mutex::default() }
    }

    /// Notes a response.
    pub fn note(&self, headers: &HeaderMap) {
        let date = headers.get(DATE).and_then(|date| date.to_str().ok());
        let date = date.and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let Some(theirs) = date.and_then(|date| u64::try_from(date.timestamp().as_millisecond()).ok()) else { return };
        self.compare(Time(theirs), self.clock.read());
    }

    fn compare(&self, theirs: Time, ours: ClockReading) {
        let ahead = ClockShift::between(theirs, ours.now);
        let ahead = if ahead.size() <= CLOSE_ENOUGH { ClockShift(0) } else { ahead };
        let before = self.ahead_at(ours);
        let changed = ClockShift(ahead.0 - before.0).size() > CLOSE_ENOUGH;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(ObservedOffset { ahead, set_by: ours.set_by });
        if changed && ahead != ClockShift(0) {
            let direction = if ahead.0 < 0 { "behind" } else { "ahead of" };
            tracing::warn!("the local clock is {} {direction} the clock of {}", ahead.size(), self.whose);
        }
    }

    /// How far our clock is ahead now; negative if it is behind.
    pub fn ahead(&self) -> ClockShift {
        self.ahead_at(self.clock.read())
    }

    fn ahead_at(&self, ours: ClockReading) -> ClockShift {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let ahead = seen.map_or(0, |seen| seen.ahead.0 + ours.set_by.0 - seen.set_by.0);
        if ClockShift(ahead).size() <= CLOSE_ENOUGH { ClockShift(0) } else { ClockShift(ahead) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Time = Time(1_700_049_600_000);

    #[tokio::test(start_paused = true)]
    async fn ours_is_ahead_by_what_an_answer_tells_and_by_what_it_is_set_since() {
        let clock = Clock::starting_at(NOON);
        let theirs = ServerClock::new("somebody", clock);
        assert_eq!(theirs.ahead(), ClockShift(0));
        let mut headers = HeaderMap::new();
        headers.insert(DATE, "Wed, 15 Nov 2023 11:00:00 GMT".parse().unwrap());
        theirs.note(&headers);
        assert_eq!(theirs.ahead(), ClockShift(3_600_000));
        clock.set(ClockShift(-3_600_000));
        assert_eq!(theirs.ahead(), ClockShift(0), "it was set right");
        clock.set(ClockShift(60_000));
        assert_eq!(theirs.ahead(), ClockShift(60_000));
        headers.insert(DATE, "Wed, 15 Nov 2023 11:00:58 GMT".parse().unwrap());
        theirs.note(&headers);
        assert_eq!(theirs.ahead(), ClockShift(0), "answers are dated to the second");
    }
}
