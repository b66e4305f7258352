//! `aizuchi worker`, `aizuchi gateway` and `aizuchi cluster`: more than one machine.

mod leave;
mod live;
mod status;
#[cfg(unix)]
mod up;
mod upgrade;
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
    /// Run a whole cluster on this machine, to try it out
    ///
    /// Starts nodes of Restate, PostgreSQL, a worker and a gateway with the web room, all on loopback and in one folder, until Ctrl-C. A
    /// second start goes on with what is in the folder.
    #[cfg(unix)]
    Up(up::UpArguments),
    /// Have workers of a new build take over
    ///
    /// Start workers of the new build under an address of their own, and run this with that address in cluster.worker_url. What begins
    /// goes to them from then on. Waits until the workers of before have ended what they have begun, and removes them from Restate;
    /// then they can be stopped. Run again, it goes on where it was.
    Upgrade(upgrade::UpgradeArguments),
    /// Show nodes, workers, rooms, connections, what waits and what is stuck
    Status,
    /// Turn the database of the cluster back into that of a single process
    ///
    /// Stop the gateways first, and let a worker run. The state of every room moves from Restate into the database; `aizuchi run` goes on
    /// from there, and `aizuchi store copy` copies it elsewhere.
    Leave,
    /// List the rooms that cannot go on, and why
    ///
    /// Without --stuck: all rooms.
    Rooms {
        /// Only rooms whose last attempt failed
        #[arg(long)]
        stuck: bool,
        /// Have rooms and calls go on that Restate has paused
        #[arg(long, conflicts_with = "stuck")]
        resume: bool,
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
    match &arguments.command {
        #[cfg(unix)]
        ClusterCommand::Up(up) => up::run(up, &arguments.settings),
        ClusterCommand::Upgrade(upgrade) => upgrade::run(upgrade, &arguments.settings),
        ClusterCommand::Status => status::show(&arguments.settings),
        ClusterCommand::Leave => leave::run(&arguments.settings),
        ClusterCommand::Rooms { resume: true, .. } => status::resume(&arguments.settings),
        ClusterCommand::Rooms { stuck: true, .. } => status::show_stuck(&arguments.settings),
        ClusterCommand::Rooms { .. } => status::list_rooms(&arguments.settings),
    }
}
