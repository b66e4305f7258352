//! Judging: the order in which questions are asked, what answers mean, and answers used again.

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
