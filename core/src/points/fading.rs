//! Answers get shorter and shorter: the talk is running out.
use super::{Percent, Rule, Scene};
use crate::room::MessageSummary;

pub(super) const RULE: Rule = Rule { id: "fading", points: -15, strength };

/// How short the newer half is compared with the older, and how strongly that counts.
const STEPS: [(f64, Percent); 2] = [(0.5, Percent::ALL), (0.7, Percent::new(67))];

fn strength(scene: &Scene<'_>) -> Percent {
    let window = scene.policy.settings.score.fading_messages as usize;
    let Some(latest) = scene.people.get(..window) else { return Percent::NONE };
    let (newer, older) = latest.split_at(window - window / 2);
    let mean = |half: &[MessageSummary]| {
        half.iter().map(|heard| u64::from(heard.chars)).sum::<u64>() as f64 / half.len() as f64
    };
    if mean(older) == 0.0 {
        return Percent::NONE;
    }
    let ratio = mean(newer) / mean(older);
    STEPS.iter().find(|(at_most, _)| ratio <= *at_most).map_or(Percent::NONE, |(_, strength)| *strength)
}
