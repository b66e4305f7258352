//! Judging: the order of the questions, the meaning of answers, and the reuse of answers.

mod cache;
mod ladder;
mod parse;

pub(crate) use cache::{Cache, cache_key};
pub use ladder::Next;
pub use ladder::NoVerdict;
pub use ladder::{JudgeLadder, LadderFindings};
pub use parse::{Parsed, Verdict, parse};

pub use crate::transcript::History;
pub use crate::types::{Question, State};
