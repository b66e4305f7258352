//! Whether it listens in a room.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "channel",
    argument: Some(Argument { name: "state", kind: ArgumentKind::Choice(|| vec!["on", "off"]), required: true }),
    permission: Permission::Managers,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command, answer },
};

fn is_on(state: Option<&Value>) -> bool {
    state.and_then(Value::word) == Some("on")
}

fn command(state: Option<&Value>) -> Command {
    Command::Listen(is_on(state))
}

fn answer(state: Option<&Value>, call: Call<'_>) -> String {
    call.language().text(if is_on(state) { "command-channel.on" } else { "command-channel.off" })
}
