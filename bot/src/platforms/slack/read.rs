//! Reads JSON leniently: a field of an unexpected type counts as missing.

use aizuchi_core::Time;
use serde_json::Value;

/// The text of a field, if it is a string and not empty.
pub fn text<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    value.get(field)?.as_str().filter(|text| !text.is_empty())
}

pub fn owned(value: &Value, field: &str) -> Option<String> {
    text(value, field).map(str::to_owned)
}

pub fn flag(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or(false)
}

pub fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// An id of a person or a channel.
pub fn id<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    text(value, field).filter(|id| is_id(id))
}

/// Short, and without characters that have a meaning in the ids we build from it.
pub fn is_id(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&id.len()) && id.bytes().all(plain)
}

/// A message's time stamp, which is its id: "1700000000.000100".
pub fn stamp<'v>(value: &'v Value, field: &str) -> Option<&'v str> {
    text(value, field).filter(|stamp| time(stamp).is_some())
}

pub fn time(stamp: &str) -> Option<Time> {
    let (seconds, rest) = stamp.split_once('.').unwrap_or((stamp, "0"));
    let digits =
        |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds, 11) || !digits(rest, 9) {
        return None;
    }
    let millis = format!("{rest:0<3}")[..3].parse::<u64>().ok()?;
    Some(Time(seconds.parse::<u64>().ok()? * 1000 + millis))
}

/// The prefix of a time stamp at this instant, for queries such as "everything since".
pub fn stamp_of(at: Time) -> String {
    format!("{}.{:03}000", at.0 / 1000, at.0 % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps() {
        assert_eq!(time("1700000000.500100"), Some(Time(1_700_000_000_500)));
        assert_eq!(stamp_of(Time(1_700_000_000_500)), "1700000000.500000");
        assert_eq!(time("1700000000"), Some(Time(1_700_000_000_000)));
        assert_eq!(time("1700000000.5"), Some(Time(1_700_000_000_500)));
        for odd in ["", "x.000000", "17e9.000000", "170000000000000.000000", "1.00000é", "1700000000."] {
            assert_eq!(time(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_field_of_another_kind_is_not_there() {
        let odd = serde_json::json!({"text": 3, "list": "x", "flag": "true", "id": "C1/../x", "empty": ""});
        assert_eq!((text(&odd, "text"), id(&odd, "id"), text(&odd, "empty")), (None, None, None));
        assert!(list(&odd, "list").is_empty() && !flag(&odd, "flag"));
    }
}
