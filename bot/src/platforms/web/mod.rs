//! The built-in web room: people talk in a browser, and see the bot's decisions beside the talk.

pub mod wire;

mod platform;
mod server;

mod change;
mod close;
mod entry;
mod page;
mod socket;
mod talk_changes;

mod sample;
mod words;

mod hub;
mod limits;
mod others;
mod plain_connections;
mod presence;
pub mod rooms;
mod talk;
mod watch;

mod access;
mod assets;
mod backlog;
mod emoji;
mod examine;
mod forget;
mod guard;
mod guesses;
mod ids;
mod memory;
mod mentions;
mod session;
mod settings;
mod spec;

pub use forget::forget;
pub use platform::Web;
pub use server::{STORE_FAILS, WebServices};
pub use settings::WebSettings;
pub use spec::{PLATFORM, check_address};
