//! Somebody asks something.
use super::{Percent, Rule, Scene};

pub(super) const RULE: Rule = Rule { id: "question", points: 30, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(scene.trimmed().ends_with(['?', '？']))
}
