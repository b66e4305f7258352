//! Somebody asks for help, or calls on everybody.
use super::{Percent, Rule, Scene};
use crate::room::Flags;

pub const RULE: Rule = Rule { id: "calls_for_help", doc: "asks for help or calls on everybody", points: 20, strength };

/// Looked for in every text as it is heard. In lower case; Latin ones count as whole words.
pub const CALLS_FOR_HELP: &[&str] = &[
    "anyone",
    "anybody",
    "somebody",
    "help",
    "how do i",
    "how can i",
    "does anyone",
    "any idea",
    "any ideas",
    "stuck",
    "誰か",
    "だれか",
    "教えて",
    "おしえて",
    "助けて",
    "たすけて",
    "困った",
    "困って",
    "わからない",
    "分からない",
    "どうすれば",
    "どうしたら",
    "みんなは",
];

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(scene.message.flags.has(Flags::CALL))
}
