//! Lists the commands.

use super::answers;
use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "help",
    argument: None,
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Run(run),
};

fn run<'a>(
    _: &'a CommandRunner,
    call: CommandCall<'a>,
    _: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move { Ok(answers::help(call.form, call.language())) })
}
