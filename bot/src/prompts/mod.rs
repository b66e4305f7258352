//! Prompts: instructions from files, people's words as data.
//!
//! A prompt has two halves that never mix. The system text is ours alone: a Markdown file of `prompts/`, or the user's own
//! in its place, filled in with settings only. It holds no time, no speaker and no word that was said, so it is the same
//! from call to call and a provider can keep it at hand. The talk goes into the user's turn, in a frame that code makes
//! and no file can change ([`frame`]), followed by the question, which is behind the line `---` of the file: last, where
//! a small model looks first.

mod builder;
mod built_in;
mod folder;
mod frame;
mod label;
mod language;
mod marks;
mod schemas;
mod words;

pub use builder::Prompts;
#[cfg(test)]
pub(crate) use builder::framed_result;
pub use built_in::NAMES;

#[cfg(test)]
mod tests;
