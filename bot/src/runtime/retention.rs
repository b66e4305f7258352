//! What "now" is for deleting what is old.
//!
//! A clock that is wrong by years would have the whole journal deleted at once, before anybody sets it right. So a clock that
//! went ahead, while the program ran or between two starts, is believed only after a day.

use std::time::Duration;

use aizuchi_core::Time;
use aizuchi_core::types::Span;
use tokio::time::Instant;

use super::clock::{Clock, ClockJump};
use crate::ports::OldRecords;

const BELIEVED_AFTER: Span = Span::minutes(24 * 60);
/// If no program ran for longer than this, a warning says that nothing old is deleted yet.
const LONG_AWAY: Span = Span::minutes(30 * 24 * 60);

/// The clock by which records, facts and rooms are old enough to be deleted.
#[derive(Clone, Copy, Debug)]
pub struct RetentionClock {
    clock: Clock,
    ran_until: Time,
    started: Instant,
}

impl RetentionClock {
    /// `ran_until` is when a program last ran before this one, zero if none did.
    pub fn start(clock: Clock, ran_until: Time) -> RetentionClock {
        let away = clock.now().since(ran_until);
        if ran_until > Time(0) && away > LONG_AWAY {
            let days = away.whole_minutes() / (24 * 60);
            tracing::warn!(
                days,
                "the clock is far ahead of when a program last ran; if that is right, what is old is deleted after a day"
            );
        }
        RetentionClock { clock, ran_until, started: Instant::now() }
    }

    /// Never later than now.
    pub fn now(&self) -> Time {
        retention_time(self.clock.now(), self.ran_until, self.started.elapsed(), self.clock.last_jump())
    }

    /// A date that a clock gave which is not believed yet: not later than this one shows, if it is far ahead of it.
    pub fn believed(&self, at: Time) -> Time {
        believed_time(at, self.now(), self.ran_until, self.started.elapsed())
    }

    /// A record that is later than this is from a clock that was ahead. One that went back is believed after a day as well:
    /// everything would be later than a clock that is years behind.
    pub fn latest(&self) -> Time {
        latest_record(self.clock.now(), self.started.elapsed(), self.clock.last_jump())
    }
}

fn believed_time(at: Time, now: Time, ran_until: Time, running_for: Duration) -> Time {
    // On the first day of a new store nothing tells what time it is.
    let is_known = ran_until > Time(0) || Span(running_for.as_millis() as u64) >= BELIEVED_AFTER;
    if is_known && at.since(now) > LONG_AWAY { now } else { at }
}

fn latest_record(now: Time, running_for: Duration, last_jump: Option<ClockJump>) -> Time {
    let was_just_set = last_jump.is_some_and(|jump| now.since(jump.at) < BELIEVED_AFTER);
    let is_believed = Span(running_for.as_millis() as u64) >= BELIEVED_AFTER && !was_just_set;
    if is_believed { OldRecords::by_clock(now, now).after } else { OldRecords::END }
}

fn retention_time(now: Time, ran_until: Time, running_for: Duration, last_jump: Option<ClockJump>) -> Time {
    let running_for = Span(running_for.as_millis() as u64);
    let mut time = now;
    if let Some(jump) = last_jump
        && jump.by.0 > 0
        && now.since(jump.at) < BELIEVED_AFTER
    {
        time = time - jump.by.size();
    }
    // Where no program ran before, nothing tells whether the clock is right, and what others remember may be deleted with it.
    if running_for < BELIEVED_AFTER {
        time = time.min(ran_until + running_for);
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;
    use aizuchi_core::types::ClockShift;

    const DAY: Duration = Duration::from_secs(24 * 3600);
    const YEARS: Span = Span::minutes(8 * 365 * 24 * 60);

    #[test]
    fn a_start_with_a_clock_that_is_years_ahead_deletes_nothing_for_a_day() {
        let ran_until = Time(1_700_000_000_000);
        let now = ran_until + YEARS;
        let at = |running_for| retention_time(now, ran_until, running_for, None);
        assert_eq!(at(Duration::ZERO), ran_until);
        assert_eq!(at(DAY / 2), ran_until + Span::minutes(12 * 60));
        assert_eq!(at(DAY), now);
        assert_eq!(retention_time(now, Time(0), DAY / 2, None), Time(0) + Span::minutes(12 * 60), "a new store");
        assert_eq!(
            retention_time(ran_until, now, DAY / 2, None),
            ran_until,
            "a clock that went back deletes nothing more"
        );
    }

    #[test]
    fn a_date_that_is_far_ahead_is_that_of_the_clock_that_is_believed() {
        let now = Time(1_700_000_000_000);
        let believed = |at, ran_until| believed_time(at, now, ran_until, DAY / 2);
        assert_eq!(believed(now + YEARS, now), now);
        assert_eq!(believed(now + YEARS, Time(0)), now + YEARS, "a new store");
        for at in [now - YEARS, now, now + LONG_AWAY] {
            assert_eq!(believed(at, now), at);
        }
    }

    #[test]
    fn records_are_later_than_now_only_by_a_clock_that_is_believed() {
        let now = Time(1_700_000_000_000);
        let jump = |at: Time| Some(ClockJump { at, by: ClockShift(-(YEARS.0 as i64)) });
        assert_eq!(latest_record(now, DAY / 2, None), OldRecords::END, "it may be years behind");
        assert_eq!(latest_record(now, 3 * DAY, jump(now)), OldRecords::END);
        for jump in [None, jump(now - BELIEVED_AFTER)] {
            let latest = latest_record(now, 3 * DAY, jump);
            assert!(latest > now && latest < now + YEARS, "{latest:?}");
        }
    }

    #[test]
    fn so_does_a_clock_that_is_set_while_it_runs() {
        let (ran_until, set_at) = (Time(1_700_000_000_000), Time(1_700_000_000_000) + YEARS);
        let jump = |by: i64| Some(ClockJump { at: set_at, by: ClockShift(by) });
        let years = YEARS.0 as i64;
        assert_eq!(retention_time(set_at, ran_until, 3 * DAY, jump(years)), ran_until);
        assert_eq!(retention_time(set_at, ran_until, 3 * DAY, jump(-years)), set_at);
        let later = set_at + BELIEVED_AFTER;
        assert_eq!(retention_time(later, ran_until, 4 * DAY, jump(years)), later);
    }
}
