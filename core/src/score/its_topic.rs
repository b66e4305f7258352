//! What is its business came up lately, this message included.
use super::{Percent, Rule, Scene};
use crate::room::Flags;

pub const RULE: Rule = Rule { id: "its_topic", doc: "one of its keywords came up lately", points: 10, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(scene.people.iter().any(|heard| heard.flags.has(Flags::KEYWORD)) || spans_messages(scene))
}

/// A keyword with a space in it may begin in one message and end in the next.
fn spans_messages(scene: &Scene<'_>) -> bool {
    let Some(finder) = &scene.policy.spanning_keywords else { return false };
    let texts: Vec<&str> = scene.people.iter().rev().map(|heard| heard.text()).collect();
    finder.found(&texts.join(" "))
}
