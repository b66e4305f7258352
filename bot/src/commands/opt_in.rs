//! Remembers the caller again.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandSpec, Effect, Offered, Permission};
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "opt-in",
    argument: None,
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let language = call.language();
        let Some(keeper) = &runner.keeper else { return Ok(answers::no_memory(language)) };
        keeper.opt_out(&runner.ears.first_id(&call.caller.person), false).await?;
        Ok(language.text("command-opt-in.done"))
    })
}
