//! Slash commands, the same on every platform. No model is asked.
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

macro_rules! commands {
    ($($module:ident)*) => {
        $(mod $module;)*

        /// Every command, in the order of the help.
        pub const COMMANDS: &[CommandSpec] = &[$($module::COMMAND),*];
    };
}

commands! {
    mute
    unmute
    why
    status
    talk
    channel
    preset
    reset
    close_room
    what_do_you_know
    export_me
    forget_me
    opt_out
    opt_in
    help
}

/// What an empty command means.
const HELP: &CommandSpec = &help::COMMAND;
