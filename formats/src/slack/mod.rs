//! A Slack export: a folder or a zip with a file for every day of every channel.

mod export;
mod layout;
mod people;
mod post;

pub use export::read;
