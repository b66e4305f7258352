//! Remembers the caller again.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandSpec, Effect, Offered, Permission, Text};
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "opt-in",
    name_ja: "覚えて",
    argument: None,
    help: Text::new("be remembered again", "またあなたのことを覚える"),
    example: Text::same("opt-in"),
    manual: Text::new("remembers you again", "またあなたのことを覚える"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let language = call.language();
        let Some(keeper) = &runner.keeper else { return Ok(answers::no_memory(language).to_owned()) };
        keeper.opt_out(&runner.ears.first_id(&call.caller.person), false).await?;
        Ok(language.choose("You are remembered again.", "またあなたのことを覚えます。").to_owned())
    })
}
