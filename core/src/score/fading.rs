//! Answers get shorter and shorter: the talk is running out.
use super::{Percent, Rule, Scene};

pub const RULE: Rule = Rule { id: "fading", doc: "messages are getting shorter and shorter", points: -15, strength };

/// The newer half this short against the older, and how strongly that counts.
const STEPS: [(f64, Percent); 2] = [(0.5, Percent::ALL), (0.7, Percent::new(67))];

fn strength(scene: &Scene<'_>) -> Percent {
    let window = scene.policy.settings.score.fading_messages as usize;
    let older_half = window / 2;
    let (mut newer, mut older, mut seen) = (0, 0, 0);
    for heard in scene.people().take(window) {
        if seen < window - older_half {
            newer += heard.chars()
        } else {
            older += heard.chars()
        }
        seen += 1;
    }
    if seen < window || older == 0 {
        return Percent::NONE;
    }
    let ratio = (newer as f64 / (window - older_half) as f64) / (older as f64 / older_half as f64);
    STEPS.iter().find(|(at_most, _)| ratio <= *at_most).map_or(Percent::NONE, |(_, strength)| *strength)
}
