//! Forgets the talk of a room.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{CommandSpec, Effect, Offered, Permission};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "reset",
    argument: None,
    permission: Permission::Managers,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command: |_| Command::Reset, answer },
};

fn answer(_: Option<&Value>, call: Call<'_>) -> String {
    call.language().text("command-reset.done")
}
