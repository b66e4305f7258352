//! The built-in model: no network, no knowledge. It judges by a few rules and answers from templates, and says so.

mod digest;
mod examples;
mod judge;
mod notice;
mod write;

use aizuchi_core::effect::{Transcript, Usage};
use aizuchi_core::input::Answer;

pub use digest::write_digest;
pub use judge::judge;
pub use write::write;

/// An answer and its bill, which counts what was read but costs nothing.
pub fn answer(text: String, transcript: &Transcript) -> Answer {
    Answer { text: text.into(), usage: Usage { calls: 1, prompt_chars: transcript.chars(), ..Usage::default() } }
}
