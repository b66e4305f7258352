//! Recorded talk in and out: our own transcripts, and exports of Discord, Slack, Zulip and IRC clients.
//!
//! [`read`] opens and unpacks, [`read_text`] recognises the format and has it read; what no single line can know (which
//! author is the bot itself, whom a reply answers) is filled in at the end, alike for all formats. [`Writer`] writes a
//! transcript.
#![warn(clippy::too_many_lines)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::wildcard_enum_match_arm))]

mod archive;
mod command;
mod detect;
mod error;
mod json;
mod log;
mod open;
mod settle;
mod text_lines;
mod when;

mod discord;
mod irc;
mod labelled;
mod lines;
mod slack;
pub mod slack_markup;
mod write;
mod zulip;

pub use detect::read_text;
pub use error::ReadError;
pub use labelled::{LabelledLog, LabelledMessage, labelled_text, read_labelled, read_labelled_log};
pub use lines::parse_line;
pub use log::{BadLine, Event, Format, Log, Options};
pub use open::read;
pub use write::Writer;
