//! Recorded talk becomes things that happened, whatever program recorded it.
//!
//! [`read`] opens and unpacks, [`read_text`] recognises the format and has it read; what no single line can know (which
//! author is the bot itself, whom a reply answers) is filled in at the end, alike for all formats.

mod archive;
mod command;
mod detect;
mod json;
mod log;
mod open;
mod settle;
mod text_lines;
mod when;

mod discord;
mod irc;
mod lines;
pub(crate) mod slack;
mod write;

pub use detect::read_text;
pub use lines::parse_line;
pub use log::{BadLine, Event, Format, Log, Options};
pub use open::read;
pub use write::Writer;
