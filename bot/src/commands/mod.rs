//! Slash commands, the same on every platform. No model is called.
//!
//! Each is a file that declares it and what it does, a name in the list below, and its sentences in `locales/`.

pub mod answers;
mod offers;
mod parse;
mod runner;
mod spec;
#[cfg(test)]
mod tests;

pub use offers::{CommandOffer, offers};
pub use parse::{ArgumentValue, ParsedCommand, parse};
pub use runner::{BotInfo, CommandCall, CommandRunner, PresetRequest};
pub use spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandForm, CommandSpec, OfferedIn, Permission, WebEffect};

mod channel;
mod close_room;
mod export_me;
mod forget_me;
mod help;
mod mute;
mod opt_in;
mod opt_out;
mod preset;
mod reminders;
mod reset;
mod status;
mod talk;
mod unmute;
mod what_do_you_know;
mod why;

/// Every command, in the order of the help.
pub const COMMANDS: &[CommandSpec] = &[
    mute::COMMAND,
    unmute::COMMAND,
    why::COMMAND,
    status::COMMAND,
    talk::COMMAND,
    channel::COMMAND,
    preset::COMMAND,
    reminders::COMMAND,
    reset::COMMAND,
    close_room::COMMAND,
    what_do_you_know::COMMAND,
    export_me::COMMAND,
    forget_me::COMMAND,
    opt_out::COMMAND,
    opt_in::COMMAND,
    help::COMMAND,
];

/// What an empty command means.
const HELP: &CommandSpec = &help::COMMAND;
