//! Whether the bot listens in a room.

use aizuchi_core::input::Command;

use super::parse::ArgumentValue;
use super::runner::CommandCall;
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "channel",
    argument: Some(ArgumentSpec { name: "state", kind: ArgumentKind::Choice(|| vec!["on", "off"]), required: true }),
    permission: Permission::Managers,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Engine { command, answer },
};

fn is_on(state: Option<&ArgumentValue>) -> bool {
    state.and_then(ArgumentValue::word) == Some("on")
}

fn command(state: Option<&ArgumentValue>) -> Command {
    Command::Listen(is_on(state))
}

fn answer(state: Option<&ArgumentValue>, call: CommandCall<'_>) -> String {
    call.language().text(if is_on(state) { "command-channel.on" } else { "command-channel.off" })
}
