//! The bot spoke a moment ago and should rather stay silent.
use super::{Percent, Rule, Scene};
use crate::types::Span;

pub(super) const RULE: Rule = Rule { id: "cooldown", points: -30, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let lasts = Span::seconds(scene.policy.settings.score.cooldown_seconds.into());
    Percent::all_or_none(scene.since_it_acted().is_some_and(|elapsed| elapsed < lasts))
}
