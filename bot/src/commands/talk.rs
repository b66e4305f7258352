//! How often it speaks up in a room.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission};
use crate::language::say;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "talk",
    argument: Some(Argument { name: "share", kind: ArgumentKind::Share, required: false }),
    permission: Permission::Managers,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command, answer },
};

fn command(share: Option<&Value>) -> Command {
    Command::Talk(share.and_then(Value::share))
}

fn answer(share: Option<&Value>, call: Call<'_>) -> String {
    let language = call.language();
    match share.and_then(Value::share) {
        Some(share) => say!(language, "command-talk.done", share = share),
        None => language.text("command-talk.done-usual"),
    }
}
