//! The time at the beginning of a line, and dates in words.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;

use crate::when::timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub date: Option<StampDate>,
    pub time: Time,
    pub precision: Precision,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampDate {
    Full(Date),
    /// "Nov 15": the year is elsewhere.
    OfYear {
        month: i8,
        day: i8,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Minute,
    Second,
}

/// The time and the rest of the line, which begins with their separator.
pub fn split(line: &str) -> (Option<Stamp>, &str) {
    let line = line.trim_start_matches(' ');
    let found = match line.strip_prefix('[').map(|rest| (rest, ']')).or(line.strip_prefix('(').map(|rest| (rest, ')')))
    {
        Some((inside, close)) => inside.split_once(close).and_then(|(text, rest)| Some((stamp(text)?, rest))),
        None => (1..=3).find_map(|words| {
            let (text, rest) = line.split_at(end_of_word(line, words)?);
            stamp(text).map(|stamp| (stamp, rest))
        }),
    };
    found.map_or((None, line), |(stamp, rest)| (Some(stamp), rest))
}

/// The end of the word with this number. The words of a time are separated by single spaces.
fn end_of_word(line: &str, words: usize) -> Option<usize> {
    let ends = line.char_indices().filter(|(_, c)| matches!(c, ' ' | '\t')).map(|(index, _)| index);
    ends.chain([line.len()]).nth(words - 1)
}

/// The maximum length of a time: "2004-11-15T12:34:56.123456789+09:00".
const STAMP_BYTES_MAX: usize = 40;

fn stamp(text: &str) -> Option<Stamp> {
    let text = text.trim();
    if text.len() > STAMP_BYTES_MAX || !text.contains(':') {
        return None;
    }
    if let Some((time, precision)) = time(text) {
        return Some(Stamp { date: None, time, precision });
    }
    if let Some((date, clock)) = text.split_once(['T', ' '])
        && let (Ok(date), Some((time, precision))) = (date.parse(), time(clock))
    {
        return Some(Stamp { date: Some(StampDate::Full(date)), time, precision });
    }
    if let Some(with_offset) = timestamp(text) {
        let moment = Offset::UTC.to_datetime(with_offset);
        return Some(Stamp {
            date: Some(StampDate::Full(moment.date())),
            time: moment.time(),
            precision: Precision::Second,
        });
    }
    let mut words = text.split(' ');
    let month = month(words.next()?)?;
    let day = words.next()?.parse().ok()?;
    let (time, precision) = time(words.next()?)?;
    Some(Stamp { date: Some(StampDate::OfYear { month, day }), time, precision })
}

/// "12:34", "1:02", "12:34:56".
fn time(text: &str) -> Option<(Time, Precision)> {
    let mut parts = text.split(':');
    let mut part = || parts.next().filter(|part| matches!(part.len(), 1 | 2)).map(number);
    let (hour, minute, second) = (part()??, part()??, part());
    let precision = if second.is_some() { Precision::Second } else { Precision::Minute };
    let second = second.unwrap_or(Some(0))?;
    let whole = parts.next().is_none() && text.bytes().filter(|byte| *byte == b':').count() <= 2;
    // A leap second is treated as the second before it.
    Time::new(hour, minute, second.min(59), 0).ok().filter(|_| whole).map(|time| (time, precision))
}

fn number(digits: &str) -> Option<i8> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// "Mon Nov 15 2004", "Mon Nov 15 12:00:00 2004", "月 11月 15 2004": irssi writes it in the language of the system.
pub fn date_in_words(words: &str) -> Option<DateTime> {
    let words: Vec<&str> = words.split_whitespace().collect();
    let (index, month) = words.iter().enumerate().find_map(|(index, word)| Some((index, month(word)?)))?;
    let day = words.get(index + 1)?.trim_end_matches([',', '日']).parse().ok()?;
    let year = words.iter().find(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit()))?;
    let clock = words.iter().find_map(|word| time(word)).map_or(Time::midnight(), |(time, _)| time);
    Some(Date::new(year.parse().ok()?, month, day).ok()?.to_datetime(clock))
}

fn month(word: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    if let Some(number) = word.strip_suffix('月') {
        return number.parse().ok().filter(|month| (1..=12).contains(month));
    }
    let head = word.get(..3)?.to_ascii_lowercase();
    let index = MONTHS.iter().position(|month| *month == head)?;
    word.bytes().all(|byte| byte.is_ascii_alphabetic()).then_some(index as i8 + 1)
}

#[cfg(test)]
mod tests {
    use jiff::civil::{date, time};

    use super::*;

    fn read(line: &str) -> Option<(Option<StampDate>, Time, Precision, &str)> {
        let (stamp, rest) = split(line);
        stamp.map(|stamp| (stamp.date, stamp.time, stamp.precision, rest))
    }

    #[test]
    fn times_in_all_their_clothes() {
        use Precision::{Minute, Second};
        let day = Some(StampDate::Full(date(2004, 11, 15)));
        assert_eq!(read("[12:34] <a> x"), Some((None, time(12, 34, 0, 0), Minute, " <a> x")));
        assert_eq!(read("12:34 <a> x"), Some((None, time(12, 34, 0, 0), Minute, " <a> x")));
        assert_eq!(read("[01:02:03] <a> x"), Some((None, time(1, 2, 3, 0), Second, " <a> x")));
        assert_eq!(read("2004-11-15 12:34:56 <a> x"), Some((day, time(12, 34, 56, 0), Second, " <a> x")));
        assert_eq!(read("2004-11-15T12:34:56 <a> x"), Some((day, time(12, 34, 56, 0), Second, " <a> x")));
        assert_eq!(read("[2004-11-15 12:34] <a> x"), Some((day, time(12, 34, 0, 0), Minute, " <a> x")));
        assert_eq!(read("2004-11-15 12:34:56\ta\tx"), Some((day, time(12, 34, 56, 0), Second, "\ta\tx")));
        assert_eq!(read("[2004-11-15T21:34:56.000+09:00] <a> x"), Some((day, time(12, 34, 56, 0), Second, " <a> x")));
        let of_year = Some(StampDate::OfYear { month: 11, day: 5 });
        assert_eq!(read("Nov 05 12:34:56 <a> x"), Some((of_year, time(12, 34, 56, 0), Second, " <a> x")));
        assert_eq!(read("23:59:60 <a> x").unwrap().1, time(23, 59, 59, 0));
    }

    #[test]
    fn what_only_resembles_a_time() {
        for line in
            ["25:00 <a> x", "12:60 x", "12:3a x", "1:2:3:4 x", "[see 12:34] x", "x 12:34 y", "::", "12:", "[12:34"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn dates_in_words() {
        assert_eq!(date_in_words("Mon Nov 15 2004"), Some(date(2004, 11, 15).at(0, 0, 0, 0)));
        assert_eq!(date_in_words("Mon Nov 15 12:01:02 2004"), Some(date(2004, 11, 15).at(12, 1, 2, 0)));
        assert_eq!(date_in_words("月 11月 15 2004"), Some(date(2004, 11, 15).at(0, 0, 0, 0)));
        assert_eq!(date_in_words("Mon Feb 31 2004"), None);
        assert_eq!(date_in_words("someday"), None);
    }
}
