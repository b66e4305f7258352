//! How often the bot speaks unasked in a room.

use aizuchi_core::input::Command;

use super::parse::ArgumentValue;
use super::runner::CommandCall;
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::language::say;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "talk",
    argument: Some(ArgumentSpec { name: "share", kind: ArgumentKind::Share, required: false }),
    permission: Permission::Managers,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Engine { command, answer },
};

fn command(share: Option<&ArgumentValue>) -> Command {
    Command::Talk(share.and_then(ArgumentValue::share))
}

fn answer(share: Option<&ArgumentValue>, call: CommandCall<'_>) -> String {
    let language = call.language();
    match share.and_then(ArgumentValue::share) {
        Some(share) => say!(language, "command-talk.done", share = share),
        None => language.text("command-talk.done-usual"),
    }
}
