//! What is said of errors that would quote what people said.

use serde_json::error::Category;
use tokio::task::JoinError;

/// What is said of a panic elsewhere than in the log, which says where it was: its message quotes a text that was cut in the
/// middle of a letter.
pub const PANIC: &str = "panicked; the log says where";

/// Why a task ended without a result. The error itself has the message of a panic.
pub fn join_error(error: &JoinError) -> &'static str {
    if error.is_panic() { PANIC } else { "was cancelled" }
}

/// How serde begins to say that a value is not the expected one; it goes on with the value or its name.
const UNEXPECTED: [&str; 7] = [
    "invalid type",
    "invalid value",
    "invalid length",
    "unknown variant",
    "unknown field",
    "missing field",
    "duplicate field",
];

/// What is wrong with JSON, and where. The error itself quotes the value that was not expected.
pub fn parse_error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let kind = match error.classify() {
        Category::Io => "cannot be read",
        Category::Syntax => "not JSON",
        Category::Data => UNEXPECTED.into_iter().find(|kind| text.starts_with(kind)).unwrap_or("unexpected value"),
        Category::Eof => "incomplete",
    };
    match error.line() {
        0 => kind.to_owned(),
        line => format!("{kind} at line {line}, column {}", error.column()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_not_quoted() {
        let told = |json: &str| parse_error(&serde_json::from_str::<Vec<u32>>(json).expect_err("it is no such list"));
        assert_eq!(told("[1,\n\"quokka\"]"), "invalid type at line 2, column 8");
        assert_eq!(told("[1, quokka"), "not JSON at line 1, column 5");
        assert_eq!(told("[1, 2"), "incomplete at line 1, column 5");
        let value = serde_json::json!(["quokka"]);
        assert_eq!(parse_error(&serde_json::from_value::<Vec<u32>>(value).unwrap_err()), "invalid type");
        let other = <serde_json::Error as serde::de::Error>::custom("no animal: quokka");
        assert_eq!(parse_error(&other), "unexpected value");
    }
}
