//! Languages, and everything that is said to people in them.
//!
//! A language is a folder of Fluent files in `locales/`; the build lists the folders. Code names a sentence by its key and
//! its arguments (`message!`, `say!`), never by its words. The page of the web room reads the same files as data.

mod catalogue;
mod id;
mod letters;
mod locales;
mod message;
mod syntax;
#[cfg(test)]
mod tests;

pub use catalogue::page_messages;
pub use id::Language;
pub use message::{LocalizedMessage, LocalizedValue};
pub(crate) use message::{message, say};
