//! Takes part in a room again.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{CommandSpec, Effect, Offered, Permission};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "unmute",
    argument: None,
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command: |_| Command::Unmute, answer },
};

fn answer(_: Option<&Value>, call: Call<'_>) -> String {
    call.language().text("command-unmute.done")
}
