//! Instants as logs write them: seconds since 1970, or a date and time with an offset.

use aizuchi_core::types::Time;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::json::{Field, quoted};

/// The first second after the year 9999.
const SECONDS_END: f64 = 253_402_300_800.0;

pub fn from_field<T>(name: &str, field: &Field<'_, T>) -> Result<Time, String> {
    match field {
        Field::Absent => Err(format!("no `{name}`")),
        Field::Number(number) => {
            let seconds = number.as_f64().unwrap_or(f64::NAN);
            from_seconds(seconds).ok_or_else(|| out_of_range(name, number, seconds))
        }
        Field::Text(text) => {
            from_text(text).map_err(|problem| format!("`{name}` must be {problem}, got {}", quoted(text)))
        }
        Field::Flag(_) | Field::List(_) | Field::Object(_) => {
            Err(format!("`{name}` must be seconds or RFC 3339, got {}", field.describe()))
        }
    }
}

/// Rounded to milliseconds.
fn from_seconds(seconds: f64) -> Option<Time> {
    (0.0..SECONDS_END).contains(&seconds).then(|| Time((seconds * 1000.0).round() as u64))
}

fn out_of_range(name: &str, number: impl std::fmt::Display, seconds: f64) -> String {
    if seconds >= SECONDS_END {
        format!("`{name}` must be seconds, not milliseconds, got {number} (after the year 9999)")
    } else {
        format!("`{name}` must be seconds since 1970, got {number}")
    }
}

fn from_text(text: &str) -> Result<Time, &'static str> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return from_seconds(seconds).ok_or("seconds from 1970 to 9999");
    }
    let stamp = timestamp(text).ok_or("seconds or RFC 3339")?;
    from_timestamp(stamp).ok_or("a time after 1970")
}

/// Also with a space before the offset.
pub fn timestamp(text: &str) -> Option<Timestamp> {
    if let Ok(stamp) = text.parse() {
        return Some(stamp);
    }
    let (moment, offset) = text.rsplit_once(' ')?;
    offset.starts_with(['+', '-', 'Z']).then(|| format!("{moment}{offset}").parse().ok())?
}

pub fn from_timestamp(stamp: Timestamp) -> Option<Time> {
    let milliseconds = (stamp.as_nanosecond() + 500_000).div_euclid(1_000_000);
    u64::try_from(milliseconds).ok().map(Time)
}

pub fn from_utc(moment: DateTime) -> Option<Time> {
    Offset::UTC.to_timestamp(moment).ok().and_then(from_timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<u64, String> {
        from_field::<serde::de::IgnoredAny>("ts", &super::super::json::value(json.as_bytes()).unwrap()).map(|at| at.0)
    }

    #[test]
    fn seconds_are_rounded_to_the_nearest_millisecond() {
        assert_eq!(read("1700000000.5"), Ok(1_700_000_000_500));
        assert_eq!(read("1700000000.0006"), Ok(1_700_000_000_001));
        assert_eq!(read("1700000000.0004"), Ok(1_700_000_000_000));
        assert_eq!(read("\"1700000000.000100\""), Ok(1_700_000_000_000));
        assert_eq!(read("0"), Ok(0));
    }

    #[test]
    fn dates_need_an_offset() {
        assert_eq!(read("\"2023-11-14T22:13:20.5Z\""), Ok(1_700_000_000_500));
        assert_eq!(read("\"2023-11-15T07:13:20.0006+09:00\""), Ok(1_700_000_000_001));
        assert_eq!(read("\"2023-11-15 07:13:20 +0900\""), Ok(1_700_000_000_000));
        assert_eq!(
            read("\"2023-11-14T22:13:20\""),
            Err("`ts` must be seconds or RFC 3339, got \"2023-11-14T22:13:20\"".into())
        );
    }

    #[test]
    fn what_no_clock_shows_is_refused_with_the_reason() {
        assert_eq!(read("\"yesterday\""), Err("`ts` must be seconds or RFC 3339, got \"yesterday\"".into()));
        assert_eq!(read("-1"), Err("`ts` must be seconds since 1970, got -1".into()));
        assert_eq!(
            read("1700000000000"),
            Err("`ts` must be seconds, not milliseconds, got 1700000000000 (after the year 9999)".into())
        );
        assert_eq!(read("\"NaN\""), Err("`ts` must be seconds from 1970 to 9999, got \"NaN\"".into()));
        assert_eq!(
            read("\"1969-07-20T20:17:40Z\""),
            Err("`ts` must be a time after 1970, got \"1969-07-20T20:17:40Z\"".into())
        );
        assert!(read("253402300799.9").is_ok() && read("253402300800").is_err() && read("1e300").is_err());
        assert_eq!(read("null"), Err("no `ts`".into()));
        assert_eq!(read("true"), Err("`ts` must be seconds or RFC 3339, got true".into()));
    }
}
