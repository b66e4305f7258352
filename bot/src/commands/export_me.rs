//! All that is remembered about the caller, as data.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandSpec, Effect, Offered, Permission};
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "export-me",
    argument: None,
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let Some(keeper) = &runner.keeper else { return Ok(answers::no_memory(call.language())) };
        let about = keeper.about(&runner.ears.first_id(&call.caller.person)).await?;
        Ok(serde_json::to_string_pretty(&about).expect("what is remembered is plain data"))
    })
}
