//! The result of reading a log, and its options.

use std::fmt;

use aizuchi_core::Input;
use aizuchi_core::types::Time;
use jiff::civil::{Date, date};

use super::error::ReadError;

/// A recorded log as events, in the order of the file.
#[derive(Clone, Debug)]
pub struct Log {
    pub format: Format,
    pub events: Vec<Event>,
    /// Lines that could not be read.
    pub bad: Vec<BadLine>,
    /// Reactions that are only counted: the log does not say who reacted, or to what.
    pub reactions: u64,
}

#[derive(Clone, Debug)]
pub struct Event {
    /// Counted from 1; in an export, the position in its list of messages.
    pub line: u64,
    pub at: Time,
    /// `Said`, `Changed` or `Told`.
    pub input: Input,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The log, or the file inside its folder or zip.
    pub file: String,
    pub line: u64,
    pub problem: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Transcript,
    Discord,
    Slack,
    Zulip,
    Irc,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Stop at the first bad line.
    pub strict: bool,
    /// Ids or names under which the bot itself took part.
    pub me: Vec<String>,
    /// The first day of an IRC log without a date.
    pub first_day: Date,
}

impl Default for Options {
    fn default() -> Options {
        Options { strict: false, me: Vec::new(), first_day: date(2000, 1, 1) }
    }
}

impl Options {
    pub(super) fn is_me(&self, id_or_name: &str) -> bool {
        self.me.iter().any(|me| me == id_or_name)
    }
}

impl Log {
    pub(super) fn empty(format: Format) -> Log {
        Log { format, events: Vec::new(), bad: Vec::new(), reactions: 0 }
    }

    pub(super) fn note(&mut self, options: &Options, file: &str, line: u64, problem: String) -> Result<(), ReadError> {
        let bad = BadLine { file: file.to_owned(), line, problem };
        if options.strict {
            return Err(ReadError::BadLine(bad));
        }
        self.bad.push(bad);
        Ok(())
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Transcript => "transcript",
            Format::Discord => "Discord export",
            Format::Slack => "Slack export",
            Format::Zulip => "Zulip export",
            Format::Irc => "IRC log",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_is_shown_where_an_editor_finds_it_and_ends_a_strict_run() {
        let mut log = Log::empty(Format::Irc);
        let lenient = Options::default();
        log.note(&lenient, "雑談.log", 7, "no `author`".into()).unwrap();
        assert_eq!(log.bad[0].to_string(), "雑談.log:7: no `author`");
        let strict = Options { strict: true, ..lenient };
        let error = log.note(&strict, "雑談.log", 8, "no `ts`".into()).unwrap_err();
        assert_eq!(error.to_string(), "雑談.log:8: no `ts`");
        assert_eq!(log.bad.len(), 1);
    }
}
