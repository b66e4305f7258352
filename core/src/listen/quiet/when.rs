//! For how long it is to be quiet.

use crate::types::{Span, Time, Zone};

/// For how long somebody wants quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuietTime {
    /// Nobody said: as long as the settings say.
    Usual,
    For(Span),
    Until(LocalTime),
    /// Until somebody lifts it.
    Open,
}

/// A time of the day in the room's time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalTime {
    pub(super) day: Day,
    pub(super) minute: u32,
    /// "Until five" may be in the morning or in the afternoon: whichever comes first.
    pub(super) either_half: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Day {
    /// The first day on which it is still to come.
    Next,
    Tomorrow,
    /// 0 is Monday.
    Weekday(i64),
}

/// When "tomorrow" and "Monday" begin for somebody who wants quiet until then.
pub(super) const MORNING: u32 = 8 * 60;
const DAY_MINUTES: i64 = 24 * 60;

impl QuietTime {
    pub(super) fn until(day: Day, minute: u32) -> QuietTime {
        QuietTime::Until(LocalTime { day, minute, either_half: false })
    }

    /// At midnight.
    pub(super) const TODAY: QuietTime = QuietTime::Until(LocalTime { day: Day::Next, minute: 0, either_half: false });

    /// From now; none where it is open.
    pub(crate) fn span(self, usual: Span, now: Time, zone: &Zone) -> Option<Span> {
        match self {
            QuietTime::Usual => Some(usual),
            QuietTime::For(span) => Some(span),
            QuietTime::Until(until) => Some(until.span(now, zone)),
            QuietTime::Open => None,
        }
    }
}

impl LocalTime {
    fn span(self, now: Time, zone: &Zone) -> Span {
        let (today, minute) = (zone.day(now), i64::from(zone.minute_of_day(now)));
        let ahead = |at: i64| if at > minute { at - minute } else { at + DAY_MINUTES - minute };
        let at = i64::from(self.minute);
        let minutes = match self.day {
            Day::Next if self.either_half => ahead(at).min(ahead((at + DAY_MINUTES / 2) % DAY_MINUTES)),
            Day::Next => ahead(at),
            Day::Tomorrow => at + DAY_MINUTES - minute,
            Day::Weekday(day) => {
                // The first day of the epoch was a Thursday.
                let weekday = (today + 3).rem_euclid(7);
                let days = (day - weekday).rem_euclid(7);
                at + DAY_MINUTES * if days == 0 { 7 } else { days } - minute
            }
        };
        // Whole minutes of the clock on the wall.
        Span((minutes.unsigned_abs() * 60_000).saturating_sub(now.0 % 60_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_day_are_those_of_the_room() {
        // A Monday, 16 November 2026, 10:15:30 in Tokyo.
        let (now, zone) = (Time(1_794_791_730_000), Zone::fixed(9 * 60));
        assert_eq!(zone.minute_of_day(now), 10 * 60 + 15);
        let minutes = |until: QuietTime| until.span(Span::ZERO, now, &zone).map(|span| span.0.div_ceil(60_000));
        assert_eq!(minutes(QuietTime::until(Day::Next, 11 * 60)), Some(45));
        assert_eq!(minutes(QuietTime::until(Day::Next, 10 * 60)), Some(24 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::Tomorrow, MORNING)), Some(22 * 60 - 15));
        assert_eq!(minutes(QuietTime::TODAY), Some(14 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::Weekday(1), MORNING)), Some(22 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::Weekday(0), MORNING)), Some(7 * 24 * 60 - 2 * 60 - 15));
        let five = LocalTime { day: Day::Next, minute: 5 * 60, either_half: true };
        assert_eq!(minutes(QuietTime::Until(five)), Some(7 * 60 - 15));
        let to_the_minute = QuietTime::until(Day::Next, 11 * 60).span(Span::ZERO, now, &zone);
        assert_eq!(to_the_minute, Some(Span::seconds(44 * 60 + 30)));
        assert_eq!(minutes(QuietTime::Open), None);
    }
}
