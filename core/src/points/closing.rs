//! Thanks, goodbye, that is all: the talk is being closed.
use super::{Percent, Rule, Scene};
use crate::types::Flags;

pub(super) const RULE: Rule = Rule { id: "closing", points: -25, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let asks = scene.trimmed().ends_with(['?', '？']);
    Percent::all_or_none(!asks && scene.message.flags.has(Flags::CLOSING))
}
