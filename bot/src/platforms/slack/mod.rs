//! Slack over Socket Mode: everything that happens is stored, acknowledged, and then told to the engine.

mod listen;
mod platform;

mod connections;
pub mod envelope;
mod socket;

pub mod event;
mod inbox;
mod tell;
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
mod mrkdwn;
pub mod read;
mod settings;
mod trouble;

pub mod examine;
pub mod scopes;
mod spec;

pub use listen::Pace;
pub use platform::Slack;
pub use settings::SlackSettings;
pub use spec::PLATFORM;
