//! 2. Scoring: one file per rule, their points from the settings, the sum clamped to 0–100.

mod percent;
mod scene;

mod after_silence;
mod calls_for_help;
mod closing;
mod cooldown;
mod engaged;
mod fading;
mod filler;
mod high_frequency;
mod its_topic;
mod keyword;
mod not_mentioned;
mod question;
mod two_people;

pub(crate) use percent::Percent;
pub(crate) use scene::Scene;

use crate::settings::{Points, RULE_IDS};

/// What a rule detects, and how strongly; its sentences are found by its id in `locales/`.
pub struct Rule {
    pub id: &'static str,
    /// The default of `points.{id}`.
    pub points: i16,
    pub(crate) strength: fn(&Scene<'_>) -> Percent,
}

/// In the order in which they are counted and listed.
pub const RULES: [Rule; RULE_IDS.len()] = [
    engaged::RULE,
    question::RULE,
    keyword::RULE,
    calls_for_help::RULE,
    two_people::RULE,
    not_mentioned::RULE,
    high_frequency::RULE,
    its_topic::RULE,
    after_silence::RULE,
    fading::RULE,
    cooldown::RULE,
    filler::RULE,
    closing::RULE,
];

/// The settings name the rules in the same order.
const _: () = {
    let mut index = 0;
    while index < RULES.len() {
        let (rule, id) = (RULES[index].id.as_bytes(), RULE_IDS[index].as_bytes());
        assert!(rule.len() == id.len(), "RULES and RULE_IDS differ");
        let mut byte = 0;
        while byte < id.len() {
            assert!(rule[byte] == id[byte], "RULES and RULE_IDS differ");
            byte += 1;
        }
        index += 1;
    }
};

/// What each rule gives for the newest message of the scene.
pub(crate) fn score(scene: &Scene<'_>) -> Points {
    let mut points = Points::default();
    for (index, rule) in RULES.iter().enumerate() {
        let worth = scene.policy.settings.points.0[index];
        if worth != 0 {
            points.0[index] = (rule.strength)(scene).of(worth);
        }
    }
    points
}
