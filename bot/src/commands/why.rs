//! Why the bot spoke or stayed silent.

use aizuchi_core::Trace;
use aizuchi_core::types::MessageId;

use super::answers::{format_dollars, no_decision};
use super::parse::ArgumentValue;
use super::runner::{CommandCall, CommandError, CommandRunner};
use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission};
use crate::language::{Language, say};
use crate::ports::BoxFuture;
use crate::sentences::sentence;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "why",
    argument: Some(ArgumentSpec { name: "message", kind: ArgumentKind::MessageId, required: false }),
    permission: Permission::Anybody,
    offered: OfferedIn::Everywhere,
    effect: CommandEffect::Run(run),
};

fn run<'a>(
    runner: &'a CommandRunner,
    call: CommandCall<'a>,
    message: Option<ArgumentValue>,
) -> BoxFuture<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let room = &call.place.room;
        let trace = match message.as_ref().and_then(ArgumentValue::word) {
            Some(message) => runner.traces.find(room, &MessageId::new(message)).await?,
            None => runner.traces.last(room).await?,
        };
        let language = call.language();
        Ok(trace.map_or_else(|| no_decision(language), |trace| explain(&trace, language)))
    })
}

/// The sentence of a decision, which includes the points. The questions asked and the cost follow, if there were any.
fn explain(trace: &Trace, language: Language) -> String {
    let mut lines = vec![format!("{} ({}): {}", trace.message, trace.author, sentence(trace, language))];
    for asked in &trace.asked {
        let key = if asked.cached { "command-why.asked-cached" } else { "command-why.asked" };
        lines.push(say!(language, key, question = asked.question.id(), answer = &*asked.answer));
    }
    if trace.micros > 0 {
        lines.push(say!(language, "command-why.cost", dollars = format_dollars(trace.micros)));
    }
    lines.join("\n")
}
