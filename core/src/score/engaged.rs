//! It answered here a short while ago: the talk is partly its own.
use super::{Percent, Rule, Scene};
use crate::types::Span;

pub const RULE: Rule = Rule { id: "engaged", doc: "it answered here a short while ago", points: 15, strength };

pub fn strength(scene: &Scene<'_>) -> Percent {
    let lasts = Span::seconds(scene.policy.settings.score.engaged_seconds.into());
    Percent::all_or_none(scene.since_it_acted().is_some_and(|elapsed| elapsed < lasts))
}
