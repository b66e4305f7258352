//! Keeps the caller out of long memory.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandSpec, Effect, Offered, Permission, Text};
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "opt-out",
    name_ja: "覚えないで",
    argument: None,
    help: Text::new("stay out of its memory from now on", "これからあなたのことを覚えない"),
    example: Text::same("opt-out"),
    manual: Text::new("keeps you out of its memory from now on; `/opt-in` ends that", "これからあなたのことを覚えない。`/opt-in` で戻る"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let language = call.language();
        let Some(keeper) = &runner.keeper else { return Ok(answers::no_memory(language).to_owned()) };
        keeper.opt_out(&runner.ears.first_id(&call.caller.person), true).await?;
        let answer = language.choose(
            "You are not remembered from now on, and what was known of you is gone. It still hears the talk of the moment.",
            "これからはあなたのことを覚えません。知っていたことも消しました。その場の会話は聞こえています。",
        );
        Ok(answer.to_owned())
    })
}
