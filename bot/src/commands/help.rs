//! Lists the commands.

use super::answers;
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{CommandSpec, Effect, Offered, Permission};
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "help",
    argument: None,
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(_: &'a CommandRunner, call: Call<'a>, _: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move { Ok(answers::help(call.form, call.language())) })
}
