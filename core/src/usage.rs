//! The cost of calls, and what is kept of one that failed.

use std::ops::Add;

use serde::{Deserialize, Serialize};

/// The cost of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// How many of them may have been paid for.
    #[serde(default = "one")]
    pub calls: u64,
    pub prompt_chars: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Millionths of a dollar.
    pub micros: u64,
}

fn one() -> u64 {
    1
}

impl Add for Usage {
    type Output = Usage;
    fn add(self, other: Usage) -> Usage {
        Usage {
            calls: self.calls.saturating_add(other.calls),
            prompt_chars: self.prompt_chars.saturating_add(other.prompt_chars),
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            micros: self.micros.saturating_add(other.micros),
        }
    }
}

/// Why a call cannot be made: the budget over all rooms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TotalSpent {
    pub have: u64,
    pub limit: u64,
    /// Nothing is left for any call today; otherwise only not for this one, or not while others are in flight.
    pub for_today: bool,
}

/// The approximate number of tokens of a text of this length: one for three bytes suits both English and Japanese.
pub fn tokens_of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(3) as u64
}

/// A failed call, in words for a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FailureRecord", into = "FailureRecord")]
pub struct Failure {
    pub what: Box<str>,
    /// What it cost all the same. If unknown, its reservation counts.
    pub usage: Option<Usage>,
}

impl Failure {
    /// It may have been paid for.
    pub fn new(what: impl Into<Box<str>>) -> Failure {
        Failure { what: what.into(), usage: None }
    }

    /// No call was made.
    pub fn unpaid(what: impl Into<Box<str>>) -> Failure {
        Failure { what: what.into(), usage: Some(Usage::default()) }
    }
}

/// The serialized form of a failure: only its words, as in earlier versions, if nothing is known of its cost.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum FailureRecord {
    Words(Box<str>),
    Billed { what: Box<str>, usage: Usage },
}

impl From<FailureRecord> for Failure {
    fn from(record: FailureRecord) -> Failure {
        match record {
            FailureRecord::Words(what) => Failure { what, usage: None },
            FailureRecord::Billed { what, usage } => Failure { what, usage: Some(usage) },
        }
    }
}

impl From<Failure> for FailureRecord {
    fn from(Failure { what, usage }: Failure) -> FailureRecord {
        match usage {
            None => FailureRecord::Words(what),
            Some(usage) => FailureRecord::Billed { what, usage },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_written_down_as_ever_where_nothing_is_known_of_its_cost() {
        let written = |failure: &Failure| serde_json::to_string(failure).unwrap();
        assert_eq!(written(&Failure::new("busy")), "\"busy\"");
        let old: Result<Usage, Failure> = serde_json::from_str(r#"{"Err": "busy"}"#).unwrap();
        assert_eq!(old, Err(Failure::new("busy")));
        let old = r#"{"Ok": {"prompt_chars": 1, "tokens_in": 2, "tokens_out": 3, "micros": 4}}"#;
        let old: Result<Usage, Failure> = serde_json::from_str(old).unwrap();
        assert_eq!(old, Ok(Usage { calls: 1, prompt_chars: 1, tokens_in: 2, tokens_out: 3, micros: 4 }));
        let usage = Usage { calls: 3, micros: 7, ..Usage::default() };
        let failure = Failure { what: "cut off".into(), usage: Some(usage) };
        assert_eq!(serde_json::from_str::<Failure>(&written(&failure)).unwrap(), failure);
    }
}
