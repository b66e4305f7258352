//! Messages come in quick succession: it is better not to interrupt.
use super::{Percent, Rule, Scene};
use crate::types::Span;

pub(super) const RULE: Rule = Rule { id: "high_frequency", points: -10, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let score = &scene.policy.settings.score;
    let within = Span::seconds(score.frequency_seconds.into());
    let latest = scene.people.get(..score.frequency_messages as usize);
    Percent::all_or_none(latest.is_some_and(|latest| latest[0].at.since(latest[latest.len() - 1].at) <= within))
}
