//! Times as people read and write them, in the machine's time zone.

use aizuchi_core::Time;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Such as "2026-04-07 12:02:30 JST".
pub fn day_and_clock(at: Time) -> String {
    format_time(at, "%Y-%m-%d %H:%M:%S %Z")
}

/// Such as "2026-04-07".
pub fn day(at: Time) -> String {
    format_time(at, "%Y-%m-%d")
}

/// Such as "12:02:30".
pub fn clock(at: Time) -> String {
    format_time(at, "%H:%M:%S")
}

fn format_time(at: Time, format: &str) -> String {
    let time = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.to_zoned(TimeZone::system()).strftime(format).to_string())
}

/// Parses a date, a date and time with or without an offset, or how long ago.
pub fn parse(text: &str) -> Result<Time, String> {
    parse_at(text, &Zoned::now()).ok_or_else(|| {
        "expected for example 2026-04-07, 2026-04-07T12:00, 2026-04-07T12:00:00+09:00, or 2h or 3d for a time that long ago".into()
    })
}

fn parse_at(text: &str, now: &Zoned) -> Option<Time> {
    let text = text.trim();
    let of = |stamp: Timestamp| u64::try_from(stamp.as_millisecond()).ok().map(Time);
    if let Ok(stamp) = text.parse::<Timestamp>() {
        return of(stamp);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return local.to_zoned(now.time_zone().clone()).ok().and_then(|zoned| of(zoned.timestamp()));
    }
    let ago: jiff::Span = text.parse().ok().filter(|span: &jiff::Span| !span.is_negative())?;
    now.checked_sub(ago).ok().and_then(|zoned| of(zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        let now: Zoned = "2026-04-07T12:00:00+09:00[+09:00]".parse().unwrap();
        let read =
            |text: &str| parse_at(text, &now).map(|at| Timestamp::from_millisecond(at.0 as i64).unwrap().to_string());
        assert_eq!(read("2026-04-07").as_deref(), Some("2026-04-06T15:00:00Z"));
        assert_eq!(read("2026-04-07T09:30").as_deref(), Some("2026-04-07T00:30:00Z"));
        assert_eq!(read("2026-04-07 09:30:00+00:00").as_deref(), Some("2026-04-07T09:30:00Z"));
        assert_eq!(read("90m").as_deref(), Some("2026-04-07T01:30:00Z"));
        assert_eq!(read("2d").as_deref(), Some("2026-04-05T03:00:00Z"));
        assert_eq!((read("soon"), read("-2h"), read("")), (None, None, None));
    }
}
