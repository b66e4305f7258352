//! The date of each line, if lines contain only the time of day.

use jiff::civil::{Date, DateTime, Time};

use super::stamp::{Stamp, StampDate};

#[derive(Clone, Copy)]
pub struct Clock {
    date: Date,
    /// The time of the previous line, unless a date was given since.
    last: Option<Time>,
}

/// A step back by more than this is the next day; a smaller one is a clock that was set.
const STEP_BACK_HOURS: i64 = 12;

impl Clock {
    pub fn new(first_day: Date) -> Clock {
        Clock { date: first_day, last: None }
    }

    pub fn set(&mut self, moment: DateTime) {
        self.date = moment.date();
        self.last = None;
    }

    pub fn read(&mut self, stamp: &Stamp) -> DateTime {
        match stamp.date {
            Some(StampDate::Full(date)) => self.date = date,
            Some(StampDate::OfYear { month, day }) => self.date = self.of_year(month, day),
            None if self.is_past_midnight(stamp.time) => self.date = self.date.tomorrow().unwrap_or(self.date),
            None => (),
        }
        self.last = Some(stamp.time);
        self.date.to_datetime(stamp.time)
    }

    fn is_past_midnight(&self, time: Time) -> bool {
        let back = |last: Time| last.duration_since(time).as_secs();
        self.last.is_some_and(|last| back(last) > STEP_BACK_HOURS * 3600)
    }

    /// January after December is in the next year.
    fn of_year(&self, month: i8, day: i8) -> Date {
        let year = self.date.year() + i16::from(self.date.month() == 12 && month == 1);
        Date::new(year, month, day).unwrap_or(self.date)
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::{date, time};

    use super::super::stamp::Precision;
    use super::*;

    fn stamp(date: Option<StampDate>, hour: i8) -> Stamp {
        Stamp { date, time: time(hour, 0, 0, 0), precision: Precision::Minute }
    }

    #[test]
    fn only_a_long_step_back_is_midnight() {
        let mut clock = Clock::new(date(2004, 2, 28));
        let mut at = |hour| clock.read(&stamp(None, hour));
        assert_eq!(at(20), date(2004, 2, 28).at(20, 0, 0, 0));
        assert_eq!(at(8), date(2004, 2, 28).at(8, 0, 0, 0));
        assert_eq!(at(22), date(2004, 2, 28).at(22, 0, 0, 0));
        assert_eq!(at(1), date(2004, 2, 29).at(1, 0, 0, 0));
    }

    #[test]
    fn a_date_that_is_told_needs_no_guess() {
        let mut clock = Clock::new(date(2000, 1, 1));
        clock.read(&stamp(None, 23));
        clock.set(date(2004, 12, 31).at(0, 0, 0, 0));
        assert_eq!(clock.read(&stamp(None, 1)).date(), date(2004, 12, 31));
        assert_eq!(clock.read(&stamp(Some(StampDate::OfYear { month: 1, day: 1 }), 1)).date(), date(2005, 1, 1));
        assert_eq!(clock.read(&stamp(Some(StampDate::OfYear { month: 2, day: 30 }), 1)).date(), date(2005, 1, 1));
        assert_eq!(clock.read(&stamp(Some(StampDate::Full(date(2010, 5, 5))), 1)).date(), date(2010, 5, 5));
    }
}
