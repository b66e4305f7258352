//! Forgets the talk of a room.

use aizuchi_core::input::Command;

use super::parse::ArgumentValue;
use super::runner::CommandCall;
use super::spec::{CommandEffect, CommandSpec, OfferedIn, Permission};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "reset",
    argument: None,
    permission: Permission::Managers,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Engine { command: |_| Command::Reset, answer },
};

fn answer(_: Option<&ArgumentValue>, call: CommandCall<'_>) -> String {
    call.language().text("command-reset.done")
}
