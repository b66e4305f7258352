//! Takes part in a room again.

use aizuchi_core::input::Command;

use super::parse::ArgumentValue;
use super::runner::CommandCall;
use super::spec::{CommandEffect, CommandSpec, OfferedIn, Permission};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "unmute",
    argument: None,
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Engine { command: |_| Command::Unmute, answer },
};

fn answer(_: Option<&ArgumentValue>, call: CommandCall<'_>) -> String {
    call.language().text("command-unmute.done")
}
