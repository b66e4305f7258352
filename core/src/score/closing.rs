//! Thanks, goodbye, that is all: the talk is being closed.
use super::{Percent, Rule, Scene};
use crate::room::Flags;

pub const RULE: Rule = Rule { id: "closing", doc: "thanks, a goodbye, or that is all", points: -25, strength };

/// Looked for in every text as it is heard. In lower case; Latin ones count as whole words.
pub const CLOSINGS: &[&str] = &[
    "thanks",
    "thank you",
    "thx",
    "ty",
    "cheers",
    "bye",
    "goodbye",
    "good night",
    "gn",
    "see you",
    "see ya",
    "cya",
    "gotta go",
    "that's all",
    "ありがとう",
    "有難う",
    "おやすみ",
    "お疲れ様",
    "おつかれ",
    "お疲れさま",
    "またね",
    "じゃあね",
    "失礼します",
    "以上です",
    "以上になります",
    "助かりました",
];

fn strength(scene: &Scene<'_>) -> Percent {
    let asks = scene.trimmed().ends_with(['?', '？']);
    Percent::all_or_none(!asks && scene.message.flags.has(Flags::CLOSING))
}
