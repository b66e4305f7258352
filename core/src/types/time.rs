//! Instants and spans in milliseconds. The core gets the time as input; it never reads a clock.

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A time in six bytes, for what is kept many times. Later than the year 10889 is as late as that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Time", into = "Time")]
pub(crate) struct ShortTime([u16; 3]);

impl From<Time> for ShortTime {
    fn from(Time(ms): Time) -> ShortTime {
        let ms = ms.min((1 << 48) - 1);
        ShortTime([ms as u16, (ms >> 16) as u16, (ms >> 32) as u16])
    }
}

impl From<ShortTime> for Time {
    #[inline]
    fn from(ShortTime([low, middle, high]): ShortTime) -> Time {
        Time(u64::from(low) | u64::from(middle) << 16 | u64::from(high) << 32)
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(pub u64);

/// How far a clock was set, in milliseconds: forward, or back if it is negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClockShift(pub i64);

impl ClockShift {
    /// The difference between two times.
    pub fn between(from: Time, to: Time) -> ClockShift {
        ClockShift(to.0.saturating_sub(from.0) as i64 - from.0.saturating_sub(to.0) as i64)
    }

    /// The size of the shift, in either direction.
    pub fn size(self) -> Span {
        Span(self.0.unsigned_abs())
    }
}

impl Time {
    /// The same instant by a clock that was set; zero stays zero.
    pub fn shifted(self, by: ClockShift) -> Time {
        if self == Time(0) { self } else { Time(self.0.saturating_add_signed(by.0).max(1)) }
    }

    /// How long ago `earlier` was; zero if it is in the future.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn seconds(seconds: u64) -> Span {
        Span(seconds.saturating_mul(1000))
    }

    pub const fn minutes(minutes: u64) -> Span {
        Span::seconds(minutes.saturating_mul(60))
    }

    pub fn whole_seconds(self) -> u64 {
        self.0 / 1000
    }

    pub fn whole_minutes(self) -> u64 {
        self.0 / 60_000
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub(span.0))
    }
}

/// "45 s", "10 min", "2 h 5 min": how a person would say it.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.whole_seconds();
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
        match (hours, minutes) {
            (0, 0) => write!(f, "{seconds} s"),
            (0, _) if seconds.is_multiple_of(60) || minutes >= 10 => write!(f, "{minutes} min"),
            (0, _) => write!(f, "{minutes} min {} s", seconds % 60),
            (_, 0) => write!(f, "{hours} h"),
            (_, _) => write!(f, "{hours} h {minutes} min"),
        }
    }
}

/// Local time as a table of offsets, so that quiet hours and days need no clock and no time zone database here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Zone {
    /// (from this instant on, minutes east of UTC), in order of time; empty is UTC.
    pub offsets: Vec<(Time, i32)>,
}

const DAY_MINUTES: i64 = 24 * 60;

impl Zone {
    pub fn fixed(minutes_east: i32) -> Zone {
        Zone { offsets: vec![(Time(0), minutes_east)] }
    }

    fn local_minutes(&self, at: Time) -> i64 {
        let passed = self.offsets.partition_point(|(from, _)| *from <= at);
        let east = passed.checked_sub(1).map_or(0, |last| self.offsets[last].1);
        (at.0 / 60_000) as i64 + i64::from(east)
    }

    /// Minutes since local midnight, 0..1440.
    pub fn minute_of_day(&self, at: Time) -> u32 {
        self.local_minutes(at).rem_euclid(DAY_MINUTES) as u32
    }

    /// A number for the local calendar day; equal within a day.
    pub fn day(&self, at: Time) -> i64 {
        self.local_minutes(at).div_euclid(DAY_MINUTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_people_say_them() {
        let said = |seconds| Span::seconds(seconds).to_string();
        assert_eq!(said(45), "45 s");
        assert_eq!(said(90), "1 min 30 s");
        assert_eq!(said(600), "10 min");
        assert_eq!(said(7500), "2 h 5 min");
    }

    #[test]
    fn local_days_turn_at_local_midnight() {
        let tokyo = Zone::fixed(9 * 60);
        let midnight_in_tokyo = Time(15 * 3_600_000);
        assert_eq!(tokyo.minute_of_day(midnight_in_tokyo), 0);
        assert_eq!(tokyo.day(midnight_in_tokyo), tokyo.day(midnight_in_tokyo - Span(1)) + 1);
        assert_eq!(Zone::default().day(midnight_in_tokyo), 0);
    }

    #[test]
    fn an_offset_holds_from_its_instant_on() {
        let zone = Zone { offsets: vec![(Time(0), 60), (Time(3_600_000), 120)] };
        assert_eq!(zone.minute_of_day(Time(3_600_000 - 1)), 119);
        assert_eq!(zone.minute_of_day(Time(3_600_000)), 180);
    }
}
