//! Remembers the caller again.

use super::answers;
use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "opt-in",
    argument: None,
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Remember(run),
};

fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    _: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let language = call.language();
        let Some(keeper) = &runner.keeper else { return Ok(answers::no_memory(language)) };
        keeper.opt_in(&runner.engine.first_id(&call.caller.person)).await?;
        Ok(language.text("command-opt-in.done"))
    })
}
