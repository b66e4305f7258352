//! Why it spoke or stayed silent.

use aizuchi_core::Trace;
use aizuchi_core::types::MessageId;

use super::answers::{dollars, no_decision};
use super::parse::Value;
use super::runner::{Call, CommandError, CommandRunner};
use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission, Text};
use crate::language::Language;
use crate::ports::Doing;

pub const COMMAND: CommandSpec = CommandSpec {
    name: "why",
    name_ja: "理由",
    argument: Some(Argument { name: "message", kind: ArgumentKind::MessageId, required: false, help: Text::new("id of a message; without one, the last", "メッセージのID。省略すると最新") }),
    help: Text::new("why it spoke or stayed silent: the last message, or the one with this id", "直前の（またはその id の）発言への判断の理由"),
    example: Text::same("why"),
    manual: Text::new("why it spoke or stayed silent about the last message it has decided on; `/why w12` about that one", "最後に判断した発言について、話した（黙った）理由。`/why w12` ならその発言について"),
    permission: Permission::Anybody,
    offered: Offered::Everywhere,
    effect: Effect::Run(run),
};

fn run<'a>(runner: &'a CommandRunner, call: Call<'a>, message: Option<Value>) -> Doing<'a, Result<String, CommandError>> {
    Box::pin(async move {
        let room = &call.place.room;
        let trace = match message.as_ref().and_then(Value::word) {
            Some(message) => runner.traces.find(room, &MessageId::new(message)).await?,
            None => runner.traces.last(room).await?,
        };
        let language = call.language();
        Ok(trace.map_or_else(|| no_decision(language).to_owned(), |trace| explain(&trace, language)))
    })
}

/// The sentence of a decision; it names the points. The questions asked and the cost follow, where there were any.
fn explain(trace: &Trace, language: Language) -> String {
    let mut lines = vec![format!("{} ({}): {}", trace.message, trace.author, trace.sentence())];
    for asked in &trace.asked {
        let cached = if asked.cached { language.choose(" (from memory)", "（記憶から）") } else { "" };
        lines.push(format!("{}{cached}: {}", asked.question.id(), asked.answer));
    }
    if trace.micros > 0 {
        lines.push(format!("{}: {}", language.choose("cost", "費用"), dollars(trace.micros)));
    }
    lines.join("\n")
}
