//! Nobody has said the bot's name recently.
use super::{Percent, Rule, Scene};
use crate::types::Flags;

pub(super) const RULE: Rule = Rule { id: "not_mentioned", points: -5, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(!scene.people.iter().any(|heard| heard.flags.has(Flags::NAMED)))
}
