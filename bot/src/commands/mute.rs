//! Says nothing in a room for a while, or until told otherwise.

use aizuchi_core::input::Command;

use super::answers::japanese;
use super::parse::Value;
use super::runner::Call;
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission, Text};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "mute",
    name_ja: "ミュート",
    argument: Some(Argument { name: "duration", kind: ArgumentKind::Duration, required: false, help: Text::new("such as 2h, 30m; without one, until further notice", "2h、30m など。省略すると無期限") }),
    help: Text::new("say nothing for a while, or until told otherwise", "しばらく、または解除するまで黙る"),
    example: Text::same("mute 2h"),
    manual: Text::new("says nothing for two hours, not even when called; `30m`, `90s`, `1h30m` and `2時間` work too. Without a time: until `/unmute`", "二時間黙る。呼ばれても答えない。`30m`、`90s`、`1h30m`、`2時間` とも書ける。時間を省くと `/unmute` まで"),
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
        Some(span) => language.choose(
            format!("Muted for {span}. {unmute} ends it."),
            format!("{}黙ります。{unmute} で解除できます。", japanese(span)),
        ),
        None => language.choose(format!("Muted until {unmute}."), format!("{unmute} まで黙ります。")),
    }
}
