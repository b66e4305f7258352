//! Reads Discord's JSON leniently: a field of the wrong type counts as missing, never as an error.

use serde_json::Value;

/// A snowflake: Discord sends it as a string, and sometimes as a number. 0 counts as none.
pub fn id(value: &Value, field: &str) -> Option<u64> {
    as_id(value.get(field)?)
}

pub fn as_id(value: &Value) -> Option<u64> {
    let id = match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => number.as_u64(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    // The store uses signed integers; real ids are far smaller.
    id.filter(|id| (1..=i64::MAX as u64).contains(id))
}

pub fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

pub fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub fn is(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or(false)
}

/// A set of flags, as a string or a number.
pub fn bits(value: &Value, field: &str) -> u64 {
    match value.get(field) {
        Some(Value::String(text)) => text.parse().unwrap_or(0),
        Some(Value::Number(number)) => number.as_u64().unwrap_or(0),
        _ => 0,
    }
}

const EPOCH_MS: u64 = 1_420_070_400_000;

/// The time encoded in this id, in milliseconds since 1970.
pub fn made_ms(id: u64) -> u64 {
    (id >> 22) + EPOCH_MS
}

/// The smallest id of that time.
pub fn first_id_at(ms: u64) -> u64 {
    ms.saturating_sub(EPOCH_MS) << 22
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_fields_are_missing_fields() {
        let odd = json!({"a": "12", "b": 12, "c": "x", "d": -1, "e": [], "f": "0", "g": u64::MAX});
        assert_eq!((id(&odd, "a"), id(&odd, "b")), (Some(12), Some(12)));
        for field in ["c", "d", "e", "f", "g", "h"] {
            assert_eq!(id(&odd, field), None, "{field}");
        }
        assert_eq!((text(&odd, "b"), list(&odd, "a").len(), is(&odd, "a"), bits(&odd, "c")), (None, 0, false, 0));
    }

    /// The example of Discord's own reference.
    #[test]
    fn an_id_tells_its_time() {
        assert_eq!(made_ms(175_928_847_299_117_063), 1_462_015_105_796);
        assert_eq!(made_ms(first_id_at(1_462_015_105_796)), 1_462_015_105_796);
    }
}
