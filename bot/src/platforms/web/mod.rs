//! The built-in web room: people talk in a browser, and see beside the talk what the bot thinks of it.

pub mod wire;

mod platform;
mod server;

mod entry;
mod page;
mod socket;

mod sample;
mod words;

mod hub;
mod outbox;
mod people;
mod talk;

mod assets;
mod forget;
mod guard;
mod ids;
mod memory;
mod mentions;

pub use platform::Web;
pub use server::Listening;
