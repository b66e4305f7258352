//! Slack over Socket Mode: every event is stored, acknowledged, and then passed to the engine.

mod listen;
mod platform;

mod connections;
pub mod envelope;
mod socket;

pub mod event;
mod forward;
mod inbox;
mod timely_body;
mod translate;

mod backfill;
mod compare;
mod names;
pub mod people;
mod sync;

mod commands;
mod posts;

mod api;
mod emoji;
mod errors;
mod mrkdwn;
pub mod read;
mod settings;

pub mod examine;
pub mod scopes;
mod spec;

pub use listen::ConnectionPace;
pub use platform::{Slack, forget};
pub use settings::SlackSettings;
pub use spec::PLATFORM;
