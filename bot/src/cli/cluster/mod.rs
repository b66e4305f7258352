//! `aizuchi worker`, `aizuchi gateway` and `aizuchi cluster`: more than one machine.

mod live;
mod status;
mod watch;

use clap::{Args, Subcommand};

use super::settings::SettingsArguments;

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterRole {
    /// It serves Restate.
    pub worker: bool,
    /// It runs the platforms.
    pub gateway: bool,
}

#[derive(Args)]
pub struct ClusterProcessArguments {
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Args)]
pub struct ClusterArguments {
    #[command(subcommand)]
    command: ClusterCommand,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Subcommand)]
enum ClusterCommand {
    /// Show workers, rooms, what waits and what is stuck
    Status,
    /// List the rooms that cannot go on, and why
    ///
    /// Without --stuck: all rooms.
    Rooms {
        /// Only rooms whose last attempt failed
        #[arg(long)]
        stuck: bool,
    },
}

pub fn worker(arguments: &ClusterProcessArguments) -> anyhow::Result<()> {
    live::run(&arguments.settings, ClusterRole { worker: true, gateway: false }, false)
}

pub fn gateway(arguments: &ClusterProcessArguments) -> anyhow::Result<()> {
    live::run(&arguments.settings, ClusterRole { worker: false, gateway: true }, false)
}

/// Both in one process.
pub fn both(settings: &SettingsArguments, may_open_browser: bool) -> anyhow::Result<()> {
    live::run(settings, ClusterRole { worker: true, gateway: true }, may_open_browser)
}

pub fn run(arguments: &ClusterArguments) -> anyhow::Result<()> {
    match arguments.command {
        ClusterCommand::Status => status::show(&arguments.settings),
        ClusterCommand::Rooms { stuck: true } => status::show_stuck(&arguments.settings),
        ClusterCommand::Rooms { stuck: false } => status::list_rooms(&arguments.settings),
    }
}
