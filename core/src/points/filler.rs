//! A word of laughter or assent that asks for nothing.
use super::{Percent, Rule, Scene};
use crate::phrases::is_filler;

pub(super) const RULE: Rule = Rule { id: "filler", points: -25, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(is_filler(scene.text))
}
