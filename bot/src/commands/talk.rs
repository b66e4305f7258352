//! How often it speaks up in a room.

use aizuchi_core::input::Command;

use super::parse::Value;
use super::runner::Call;
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission, Text};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "talk",
    name_ja: "頻度",
    argument: Some(Argument { name: "share", kind: ArgumentKind::Share, required: false, help: Text::new("such as 3%; without one, as set", "3% など。省略すると設定どおり") }),
    help: Text::new("speak up at about this share of messages, or as the settings say", "発言のおよそこの割合で口をはさむ（省略すると設定どおり）"),
    example: Text::same("talk 3%"),
    manual: Text::new("speaks up at about 3 % of the messages; without a number as the settings say", "発言のおよそ 3 % で口をはさむ。数字を省くと設定どおり"),
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
        Some(share) => language.choose(
            format!("Will speak up at about {share} of messages."),
            format!("発言のおよそ {share} で口をはさみます。"),
        ),
        None => language.choose("Speaks up as the settings say.", "設定どおりに話します。").to_owned(),
    }
}
