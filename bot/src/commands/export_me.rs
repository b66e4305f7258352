//! Everything stored about the caller, as data: what is remembered about them, and what they said.

use super::answers;
use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "export-me",
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
        let Some(keeper) = &runner.keeper else { return Ok(answers::no_memory(call.language())) };
        let list = keeper.list(&runner.engine.ids_of(&call.caller.person), &runner.platforms).await?;
        Ok(serde_json::to_string_pretty(&list).expect("what is remembered is plain data"))
    })
}
