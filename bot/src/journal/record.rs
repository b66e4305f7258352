//! The format of a record: JSON, and a checksum that detects a torn or modified one.

use aizuchi_core::{Input, Time};
use xxhash_rust::xxh3::xxh3_64;

use crate::redacted;

/// The body of a record and its checksum.
pub fn encode(input: &Input) -> (String, i64) {
    let body = serde_json::to_string(input).expect("an input is plain data");
    let sum = sum(&body);
    (body, sum)
}

/// The content of a record, and when it was handled. `Err` describes what is wrong with it.
pub fn decode(body: &[u8], expected: i64, at: i64) -> Result<(Time, Input), String> {
    let body = std::str::from_utf8(body).map_err(|_| "not UTF-8")?;
    if sum(body) != expected {
        return Err("wrong checksum".into());
    }
    let at = u64::try_from(at).map_err(|_| "a time before 1970")?;
    let input = serde_json::from_str(body).map_err(|error| redacted::parse_error(&error))?;
    Ok((Time(at), input))
}

/// The checksum of a body.
pub fn sum(body: &str) -> i64 {
    xxh3_64(body.as_bytes()).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_never_changes_between_versions() {
        assert_eq!(encode(&Input::Tick), ("\"Tick\"".to_owned(), sum("\"Tick\"")));
        assert_eq!(sum(""), 3_244_421_341_483_603_138);
        assert_ne!(sum("\"Tick\""), sum("\"Tock\""));
    }
}
