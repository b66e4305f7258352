//! How a record is written and read: JSON with a checksum.

use aizuchi_core::Input;
use xxhash_rust::xxh3::xxh3_64;

/// The text of an input and its checksum.
pub fn encode(input: &Input) -> (String, i64) {
    let body = serde_json::to_string(input).expect("an input is plain data");
    let sum = sum(&body);
    (body, sum)
}

/// `Err` says what is wrong with it.
pub fn decode(body: &str, sum_written: i64) -> Result<Input, String> {
    if sum(body) != sum_written {
        return Err("its checksum does not fit".into());
    }
    serde_json::from_str(body).map_err(|error| format!("it is not an input: {error}"))
}

pub fn sum(body: &str) -> i64 {
    xxh3_64(body.as_bytes()) as i64
}
