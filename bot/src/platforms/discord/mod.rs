//! Discord: events come from the gateway, and actions go through the REST API.

mod platform;

mod connection;
mod errors;
mod gateway;
mod held;
mod identify;
mod reconnect;

mod listener;
pub mod readable;
pub mod translate;

mod backfill;
mod compare;
mod marks;
pub mod places;

mod post;
mod rest;

mod commands;
mod interaction;

mod examine;
pub mod read;
mod settings;
mod spec;

pub use examine::{PERMISSIONS, examine, permissions};
pub use platform::{Discord, GatewayState};
pub use settings::DiscordSettings;
pub use spec::PLATFORM;
