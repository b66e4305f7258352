//! 4. Judging: the questions, the order they are asked in, what answers mean, and answers used again.

mod cache;
mod climb;
mod history;
mod parse;
mod question;

pub use cache::{Cache, cache_key};
pub use climb::{Climb, Known, Next, NoVerdict};
pub use history::History;
pub use parse::{Parsed, Verdict, parse};
pub use question::{Question, State};
