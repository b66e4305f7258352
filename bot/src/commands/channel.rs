//! Whether it listens in a room.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission, Text};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "channel",
    name_ja: "チャンネル",
    argument: Some(Argument { name: "state", kind: ArgumentKind::Choice(|| vec!["on", "off"]), required: true, help: Text::new("on or off", "on か off") }),
    help: Text::new("listen here, or not", "ここで聞く、聞かない"),
    example: Text::same("channel off"),
    manual: Text::new("does not listen in this room; `/channel on` does again", "このルームでは聞かない。`/channel on` で戻る"),
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
    let language = call.language();
    let answer = if is_on(state) {
        language.choose("Listens here.", "ここで聞きます。")
    } else {
        language.choose("Does not listen here any more.", "ここではもう聞きません。")
    };
    answer.to_owned()
}
