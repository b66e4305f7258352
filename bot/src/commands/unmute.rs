//! Takes part in a room again.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{CommandSpec, Effect, Offered, Permission, Text};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "unmute",
    name_ja: "ミュート解除",
    argument: None,
    help: Text::new("take part again", "また参加する"),
    example: Text::same("unmute"),
    manual: Text::new("takes part again", "また参加する"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command: |_| Command::Unmute, answer },
};

fn answer(_: Option<&Value>, call: Call<'_>) -> String {
    call.language().choose("Takes part again.", "また参加します。").to_owned()
}
