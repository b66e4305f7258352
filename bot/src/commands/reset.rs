//! Forgets the talk of a room.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{CommandSpec, Effect, Offered, Permission, Text};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "reset",
    name_ja: "リセット",
    argument: None,
    help: Text::new("forget the talk of this room", "このルームの会話を忘れる"),
    example: Text::same("reset"),
    manual: Text::new("forgets the talk of this room", "このルームの会話を忘れる"),
    permission: Permission::Managers,
    offered: Offered::Everywhere,
    effect: Effect::Engine { command: |_| Command::Reset, answer },
};

fn answer(_: Option<&Value>, call: Call<'_>) -> String {
    call.language().choose("Forgot the talk of this room.", "このルームの会話を忘れました。").to_owned()
}
