//! How a record is written down: JSON, and a checksum that tells a torn or changed one.

use aizuchi_core::Input;
use xxhash_rust::xxh3::xxh3_64;

/// The body of a record and its checksum.
pub fn encode(input: &Input) -> (String, i64) {
    let body = serde_json::to_string(input).expect("an input is plain data");
    let sum = sum(&body);
    (body, sum)
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
