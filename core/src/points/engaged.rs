//! The bot answered here a short while ago, so it is part of the talk.
use super::{Percent, Rule, Scene};

pub(super) const RULE: Rule = Rule { id: "engaged", points: 15, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(scene.place.is_engaged(scene.policy, scene.now()))
}
