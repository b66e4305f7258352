//! Messages come thick and fast: no need to pour water on it.
use super::{Percent, Rule, Scene};
use crate::types::Span;

pub const RULE: Rule = Rule { id: "high_frequency", doc: "messages come thick and fast", points: -10, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let score = &scene.policy.settings.score;
    let within = Span::seconds(score.frequency_seconds.into());
    let mut people = scene.people().map(|heard| heard.at);
    let newest = people.next();
    let oldest = people.nth(score.frequency_messages as usize - 2);
    Percent::all_or_none(newest.zip(oldest).is_some_and(|(newest, oldest)| newest.since(oldest) <= within))
}
