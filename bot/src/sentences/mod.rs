//! Decisions in words: a trace becomes messages with typed arguments, and those a sentence in some language.

mod cause;
mod channel;
#[cfg(test)]
mod tests;
mod trace;

pub use cause::cause;
pub use channel::channel;
pub use trace::{outcome, reason, sentence, why};
