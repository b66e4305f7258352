//! How long the bot is to be quiet.

use crate::types::{Span, Time, Zone};

/// How long somebody wants quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuietTime {
    /// Not specified: as long as the settings say.
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
    /// The next day on which the time is still in the future.
    Next,
    Tomorrow,
    InDays(i64),
    /// The next one after today; 0 is Monday.
    Weekday(i64),
    /// The same, or today if the time is still in the future.
    ThisWeekday(i64),
    /// The one in the week that begins on the next Monday.
    WeekdayOfNextWeek(i64),
    /// Today if it is this day, or the next.
    Date {
        month: i64,
        day: i64,
    },
    OfMonth(i64),
    /// The first day of the next month, or of the next year.
    NextMonth,
    NextYear,
}

/// A person who wants quiet for longer lets the bot talk again when they want to.
const LONGEST: Span = Span::minutes(400 * 24 * 60);

/// When "tomorrow" and "Monday" begin for a person who wants quiet until then.
pub(super) const MORNING: u32 = 8 * 60;
const DAY_MINUTES: i64 = 24 * 60;

impl QuietTime {
    pub(super) const fn until(day: Day, minute: u32) -> QuietTime {
        QuietTime::Until(LocalTime { day, minute, either_half: false })
    }

    /// For this long.
    pub(super) fn lasting(span: Span) -> QuietTime {
        if span > LONGEST { QuietTime::Open } else { QuietTime::For(span) }
    }

    /// At midnight.
    pub(super) const TODAY: QuietTime = QuietTime::Until(LocalTime { day: Day::Next, minute: 0, either_half: false });

    /// The duration from now; `None` if it is open-ended.
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
    /// The next occurrence of a date; `None` if there is no such date.
    pub(super) fn date(month: i64, day: i64) -> Option<Day> {
        const DAYS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let days = usize::try_from(month - 1).ok().and_then(|at| DAYS.get(at))?;
        (1..=*days).contains(&day).then_some(Day::Date { month, day })
    }

    /// The next day of the month with this number.
    pub(super) fn of_month(day: i64) -> Option<Day> {
        (1..=31).contains(&day).then_some(Day::OfMonth(day))
    }

    /// With a time of the day, a weekday may be today.
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
            Day::WeekdayOfNextWeek(day) => at + DAY_MINUTES * (1 + days_until(0, today + 1) + day) - minute,
            Day::Date { month, day } => until_date(today, at, minute, |_, begun, on| (begun, on) == (month, day)),
            Day::OfMonth(day) => until_date(today, at, minute, |_, _, on| on == day),
            Day::NextMonth => at + DAY_MINUTES * days_left(today, CalendarUnit::Month) - minute,
            Day::NextYear => at + DAY_MINUTES * days_left(today, CalendarUnit::Year) - minute,
        };
        // Whole minutes of the wall clock.
        Span((minutes.unsigned_abs() * 60_000).saturating_sub(now.0 % 60_000))
    }
}

/// Minutes until a time on the first day that `fits` (year, month and day); if that was today, until midnight.
fn until_date(today: i64, at: i64, minute: i64, fits: impl Fn(i64, i64, i64) -> bool) -> i64 {
    // There may be eight years between two leap days.
    const DAYS_MAX: i64 = 8 * 366;
    let fits_day = |days: &i64| {
        let (year, month, day) = date_of(today + days);
        fits(year, month, day)
    };
    match (0..=DAYS_MAX).find(fits_day).unwrap_or(0) {
        0 if at <= minute => DAY_MINUTES - minute,
        days => at + DAY_MINUTES * days - minute,
    }
}

/// Days from this one, counted since 1970-01-01, to the next such weekday.
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
    let (year, month, _) = date_of(day);
    let begins = |days: &i64| match (unit, date_of(day + days)) {
        (CalendarUnit::Month, (_, begun, _)) => begun != month,
        (CalendarUnit::Year, (begun, _, _)) => begun != year,
    };
    (1..=366).find(begins).unwrap_or(366)
}

/// Year, month and day of a day counted since 1970-01-01: years begin in March, so that the leap day is the last.
fn date_of(day: i64) -> (i64, i64, i64) {
    const FOUR_CENTURIES: i64 = 146_097;
    let since_march_of_0 = day + 719_468;
    let (era, day) = (since_march_of_0.div_euclid(FOUR_CENTURIES), since_march_of_0.rem_euclid(FOUR_CENTURIES));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let since_march = (5 * day_of_year + 2) / 153;
    let month = if since_march < 10 { since_march + 3 } else { since_march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day_of_year - (153 * since_march + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_days() {
        for (day, date) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (-1, (1969, 12, 31)),
            (20_773, (2026, 11, 16)),
        ] {
            assert_eq!(date_of(day), date, "{day}");
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
        // The Friday of next week, the 10th of the next month, and a date of today, which lasts to its end.
        assert_eq!(minutes(QuietTime::until(Day::WeekdayOfNextWeek(4), MORNING)), Some(11 * 24 * 60 - 2 * 60 - 15));
        assert_eq!(minutes(QuietTime::until(Day::OfMonth(10), MORNING)), Some(24 * 24 * 60 - 2 * 60 - 15));
        assert_eq!(
            minutes(QuietTime::until(Day::Date { month: 11, day: 20 }, MORNING)),
            Some(4 * 24 * 60 - 2 * 60 - 15)
        );
        assert_eq!(minutes(QuietTime::until(Day::Date { month: 11, day: 16 }, MORNING)), Some(14 * 60 - 15));
        assert_eq!(
            minutes(QuietTime::until(Day::Date { month: 11, day: 15 }, MORNING)),
            Some(364 * 24 * 60 - 2 * 60 - 15)
        );
        assert_eq!(Day::date(2, 30), None);
        assert_eq!(QuietTime::lasting(Span::minutes(366 * 24 * 60)), QuietTime::For(Span::minutes(366 * 24 * 60)));
        assert_eq!(QuietTime::lasting(Span(u64::MAX)), QuietTime::Open);
    }
}
