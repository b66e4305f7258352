//! What is said of a setting, with the place where it was given.

use std::fmt;
use std::sync::Arc;

/// An invalid setting: where, what, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub source: Arc<str>,
    pub line: Option<usize>,
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told = match self.line {
            Some(line) => format!("{}:{line}: {}", self.source, self.message),
            None => format!("{}: {}", self.source, self.message),
        };
        f.write_str(&told.replace("\r\n", "⏎").replace(['\n', '\r'], "⏎"))
    }
}
