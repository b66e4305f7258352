//! Says nothing in a room for a while, or until told otherwise.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission};
use crate::language::say;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "mute",
    argument: Some(Argument { name: "duration", kind: ArgumentKind::Duration, required: false }),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command, answer },
};

fn command(duration: Option<&Value>) -> Command {
    Command::Mute(duration.and_then(Value::duration))
}

fn answer(duration: Option<&Value>, call: Call<'_>) -> String {
    let (unmute, language) = (call.form.write("unmute"), call.language());
    match duration.and_then(Value::duration) {
        Some(span) => say!(language, "command-mute.done", span = span, unmute = unmute),
        None => say!(language, "command-mute.done-open", unmute = unmute),
    }
}
