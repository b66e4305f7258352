//! The message contains one of the bot's keywords.
use super::{Percent, Rule, Scene};
use crate::types::Flags;

pub(super) const RULE: Rule = Rule { id: "keyword", points: 20, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    Percent::all_or_none(scene.message.flags.has(Flags::KEYWORD))
}
