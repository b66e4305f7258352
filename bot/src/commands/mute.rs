//! Says nothing in a room for a while, or until told otherwise.

use aizuchi_core::input::Command;

use super::parse::ArgumentValue;
use super::runner::CommandCall;
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::language::say;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "mute",
    argument: Some(ArgumentSpec { name: "duration", kind: ArgumentKind::Duration, required: false }),
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Engine { command, answer },
};

fn command(duration: Option<&ArgumentValue>) -> Command {
    Command::Mute(duration.and_then(ArgumentValue::duration))
}

fn answer(duration: Option<&ArgumentValue>, call: CommandCall<'_>) -> String {
    let (unmute, language) = (call.form.write("unmute"), call.language());
    match duration.and_then(ArgumentValue::duration) {
        Some(span) => say!(language, "command-mute.done", span = span, unmute = unmute),
        None => say!(language, "command-mute.done-open", unmute = unmute),
    }
}
