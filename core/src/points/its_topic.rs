//! A topic of the bot came up recently.
use super::{Percent, Rule, Scene};
use crate::types::Flags;

pub(super) const RULE: Rule = Rule { id: "its_topic", points: 10, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let skipped = usize::from(!scene.policy.settings.score.topic_counts_message);
    let mut looked_at = scene.people.iter().skip(skipped);
    Percent::all_or_none(looked_at.any(|heard| heard.flags.has(Flags::KEYWORD)) || spans_messages(scene))
}

/// A keyword with a space in it may begin in one message and end in the next.
fn spans_messages(scene: &Scene<'_>) -> bool {
    let Some(finder) = &scene.policy.spanning_keywords else { return false };
    let newest = scene.place.newest(scene.policy, scene.now(), scene.policy.settings.score.window_messages);
    let texts: Vec<&str> = newest.iter().rev().filter(|heard| heard.is_person()).map(|heard| heard.text()).collect();
    finder.is_in(&texts.join(" "))
}
