//! Somebody asks for help, or calls on everybody.
use super::{Percent, Rule, Scene};
use crate::types::Flags;

pub(super) const RULE: Rule = Rule { id: "calls_for_help", points: 20, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(scene.message.flags.has(Flags::CALL))
}
