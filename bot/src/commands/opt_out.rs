//! Keeps the caller out of long-term memory.

use super::answers;
use super::forget_me::ask_about;
use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::keeper::OptOutState;
use crate::ports::BoxFuture;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "opt-out",
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
        let done = keeper.opt_out(&runner.engine.first_id(&call.caller.person), &runner.platforms).await?;
        let mut text = match done.state {
            OptOutState::Done => language.text("command-opt-out.done"),
            OptOutState::Noted => language.text("command-opt-out.noted"),
        };
        if let Some(question) = ask_about(&done.doubtful, call.form, language) {
            text.push('\n');
            text.push_str(&question);
        }
        Ok(text)
    })
}
