//! Lists the commands.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandSpec, Effect, Offered, Permission, Text};
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "help",
    name_ja: "ヘルプ",
    argument: None,
    help: Text::new("this list", "この一覧"),
    example: Text::same("help"),
    manual: Text::new("this list", "この一覧"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(_: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move { Ok(answers::help(call.form, call.language())) })
}
