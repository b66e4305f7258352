//! Prompts: instructions from files, people's words as data.
//!
//! A prompt has two halves that never mix. The system text is ours alone: a Markdown file of `prompts/`, or the user's own
//! instead, filled in with settings only. It contains no time, no speaker and no word that was said, so it is the same from
//! call to call and a provider can cache it. The talk goes into the user's turn, in a frame that code builds and no file
//! can change ([`frame`]), followed by the question, which is after the line `---` of the file: it comes last, where a
//! small model pays most attention.

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
