//! Formats numbers, times and other people's words for the report.

use aizuchi_core::types::Time;
use jiff::Timestamp;

use crate::language::{Language, LocalizedValue, say};

/// Formats 1234567 as "1,234,567".
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 message", "2,000 messages".
pub fn messages(number: u64, language: Language) -> String {
    say!(language, "report-messages", n = LocalizedValue::Count(number))
}

/// A rate with a suitable number of digits.
pub fn format_rate(rate: f64) -> String {
    match rate {
        0.0 => "0".into(),
        rate if rate < 1.0 => format!("{rate:.2}"),
        rate if rate < 100.0 => format!("{rate:.1}"),
        rate => count(rate.round() as u64),
    }
}

pub fn percent(part: u64, whole: u64, language: Language) -> String {
    let percent = if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 };
    match percent {
        0.0 => "0 %".into(),
        percent if percent < 0.1 => language.text("report-percent-under"),
        percent if part != whole && percent > 99.9 => language.text("report-percent-over"),
        percent if part == whole => format!("{percent:.0} %"),
        percent => format!("{percent:.1} %"),
    }
}

/// Millionths of a dollar as dollars.
pub fn dollars(micros: u64, language: Language) -> String {
    match micros {
        0 => "$0".into(),
        1..100 => language.text("report-dollars-under"),
        100..1_000_000 => format!("${:.4}", micros as f64 / 1e6),
        _ => format!("${}.{:02}", count(micros / 1_000_000), micros % 1_000_000 / 10_000),
    }
}

/// RFC 3339 in UTC, for machines; `None` for an instant outside the calendar.
pub fn machine_time(at: Time) -> Option<String> {
    instant(at).map(|at| at.to_string())
}

/// RFC 3339 in UTC to the second, for people.
pub fn time(at: Time) -> String {
    strftime("%Y-%m-%d %H:%M:%SZ", at)
}

/// Formats an instant in UTC.
pub fn strftime(pattern: &str, at: Time) -> String {
    instant(at).map_or_else(|| format!("{} ms", at.0), |at| at.strftime(pattern).to_string())
}

fn instant(at: Time) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(at.0).ok()?).ok()
}

/// Text from outside, truncated to this many characters. Characters that change the text direction are removed, invisible
/// ones are marked; the template escapes the rest.
pub fn harmless(text: &str, chars_max: usize) -> String {
    const LINES_MAX: usize = 8;
    let is_turning = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::new();
    let mut lines = 1;
    let mut rest = text.trim().chars().filter(|c| !is_turning(*c) && *c != '\r').peekable();
    for c in rest.by_ref().take(chars_max) {
        lines += usize::from(c == '\n');
        if lines > LINES_MAX {
            shown.push('…');
            return shown;
        }
        shown.push(if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c });
    }
    if rest.peek().is_some() {
        shown.push('…');
    }
    shown
}

/// The same on one line.
pub fn harmless_line(text: &str, chars_max: usize) -> String {
    harmless(&text.split_whitespace().collect::<Vec<_>>().join(" "), chars_max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.046, 3.06, 1234.5].map(format_rate), ["0", "0.05", "3.1", "1,235"]);
        assert_eq!(
            [0, 7, 12_300, 1_239_000].map(|micros| dollars(micros, Language::ENGLISH)),
            ["$0", "under $0.0001", "$0.0123", "$1.23"]
        );
        let percent = |part, whole| percent(part, whole, Language::ENGLISH);
        assert_eq!(percent(1, 5000), "under 0.1 %");
        assert_eq!(percent(4999, 5000), "over 99.9 %");
        assert_eq!((percent(5, 5), percent(0, 0), percent(1, 8)), ("100 %".into(), "0 %".into(), "12.5 %".into()));
    }

    #[test]
    fn times_are_rfc_3339_and_never_fail() {
        assert_eq!(time(Time(1_700_000_000_500)), "2023-11-14 22:13:20Z");
        assert_eq!(machine_time(Time(1_700_000_000_500)).unwrap(), "2023-11-14T22:13:20.5Z");
        assert_eq!(machine_time(Time(u64::MAX)), None);
        assert_eq!(time(Time(u64::MAX)), "18446744073709551615 ms");
    }

    #[test]
    fn words_from_outside_turn_nothing_around() {
        assert_eq!(harmless("a\u{202e}b\u{2067}c\u{0}\r\nd", 99), "abc\u{fffd}\nd");
        assert_eq!(harmless("こんにちは", 3), "こんに…");
        assert_eq!(harmless("こんにちは", 5), "こんにちは");
        assert_eq!(harmless(&"\nx".repeat(50), 99).lines().count(), 8);
        assert_eq!(harmless_line("a\n\n b", 99), "a b");
    }
}
