//! Thanks, goodbye, that is all: the talk is being closed.
use std::sync::LazyLock;

use super::words::Phrases;
use super::{Percent, Rule, Scene};

pub const RULE: Rule = Rule { id: "closing", doc: "thanks, a goodbye, or that is all", points: -25, strength };

static CLOSINGS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
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
    ])
});

fn strength(scene: &Scene<'_>) -> Percent {
    let asks = scene.trimmed().ends_with(['?', '？']);
    Percent::all_or_none(!asks && CLOSINGS.stand_in(scene.message.text))
}
