//! Somebody asks for help, or calls on everybody.
use std::sync::LazyLock;

use super::words::Phrases;
use super::{Percent, Rule, Scene};

pub const RULE: Rule = Rule { id: "calls_for_help", doc: "asks for help or calls on everybody", points: 20, strength };

static CALLS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
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
    ])
});

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(CALLS.stand_in(scene.message.text))
}
