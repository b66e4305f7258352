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
    InDays(i64),
    /// The next one after today; 0 is Monday.
    Weekday(i64),
    /// The same, or today if the time is still to come.
    ThisWeekday(i64),
    /// The first day of the next month, or of the next year.
    NextMonth,
    NextYear,
}

/// Who wants quiet for longer lets it talk again when they want to.
const LONGEST: Span = Span::minutes(400 * 24 * 60);

/// When "tomorrow" and "Monday" begin for somebody who wants quiet until then.
pub(super) const MORNING: u32 = 8 * 60;
const DAY_MINUTES: i64 = 24 * 60;

impl QuietTime {
    pub(super) fn until(day: Day, minute: u32) -> QuietTime {
        QuietTime::Until(LocalTime { day, minute, either_half: false })
    }

    /// For this long.
    pub(super) fn lasting(span: Span) -> QuietTime {
        if span > LONGEST { QuietTime::Open } else { QuietTime::For(span) }
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

impl Day {
    /// Where a time of the day is named, a weekday may be today.
    pub(super) fn with_time(self) -> Day {
        if let Day::Weekday(weekday) = self { Day::ThisWeekday(weekday) } else { self }
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
            Day::InDays(days) => at + DAY_MINUTES * days - minute,
            Day::Weekday(day) => at + DAY_MINUTES * (1 + days_until(day, today + 1)) - minute,
            Day::ThisWeekday(day) if days_until(day, today) == 0 && at > minute => at - minute,
            Day::ThisWeekday(day) => at + DAY_MINUTES * (1 + days_until(day, today + 1)) - minute,
            Day::NextMonth => at + DAY_MINUTES * days_left(today, CalendarUnit::Month) - minute,
            Day::NextYear => at + DAY_MINUTES * days_left(today, CalendarUnit::Year) - minute,
        };
        // Whole minutes of the clock on the wall.
        Span((minutes.unsigned_abs() * 60_000).saturating_sub(now.0 % 60_000))
    }
}

/// Days from this one, counted since 1970-01-01, to the next of a weekday.
fn days_until(weekday: i64, day: i64) -> i64 {
    // The first day of the epoch was a Thursday.
    (weekday - (day + 3)).rem_euclid(7)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CalendarUnit {
    Month,
    Year,
}

/// Days up to the first day of the next month or year.
fn days_left(day: i64, unit: CalendarUnit) -> i64 {
    let (year, month) = year_and_month(day);
    let begins = |days: &i64| match (unit, year_and_month(day + days)) {
        (CalendarUnit::Month, begun) => begun != (year, month),
        (CalendarUnit::Year, (begun, _)) => begun != year,
    };
    (1..=366).find(begins).unwrap_or(366)
}

/// Year and month of a day counted since 1970-01-01: in years that begin in March, the leap day is the last of all.
fn year_and_month(day: i64) -> (i64, i64) {
    const FOUR_CENTURIES: i64 = 146_097;
    let since_march_of_0 = day + 719_468;
    let (era, day) = (since_march_of_0.div_euclid(FOUR_CENTURIES), since_march_of_0.rem_euclid(FOUR_CENTURIES));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let since_march = (5 * day_of_year + 2) / 153;
    let month = if since_march < 10 { since_march + 3 } else { since_march - 9 };
    (era * 400 + year + i64::from(month <= 2), month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_years_of_days() {
        for (day, year, month) in [
            (0, 1970, 1),
            (58, 1970, 2),
            (59, 1970, 3),
            (11_016, 2000, 2),
            (11_017, 2000, 3),
            (-1, 1969, 12),
            (20_773, 2026, 11),
        ] {
            assert_eq!(year_and_month(day), (year, month), "{day}");
        }
    }

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
        assert_eq!(minutes(QuietTime::until(Day::ThisWeekday(0), 17 * 60)), Some(7 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::ThisWeekday(0), MORNING)), Some(7 * 24 * 60 - 2 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::ThisWeekday(4), 17 * 60)), Some(4 * 24 * 60 + 7 * 60 - 15));
        // December has not begun, and the year ends in 46 days.
        assert_eq!(minutes(QuietTime::until(Day::NextMonth, MORNING)), Some(15 * 24 * 60 - 2 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::NextYear, MORNING)), Some(46 * 24 * 60 - 2 * 60 - 15));
        assert_eq!(QuietTime::lasting(Span::minutes(366 * 24 * 60)), QuietTime::For(Span::minutes(366 * 24 * 60)));
        assert_eq!(QuietTime::lasting(Span(u64::MAX)), QuietTime::Open);
    }
}
