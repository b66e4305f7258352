//! 2. Scoring: one file per rule, their points from the settings, the sum clamped to 0–100.

mod points;
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
mod words;

pub use calls_for_help::CALLS_FOR_HELP;
pub use closing::CLOSINGS;
pub use filler::is_filler;
pub use points::{Percent, Points};
pub use scene::Scene;

/// What a rule notices, and how strongly.
pub struct Rule {
    pub id: &'static str,
    pub doc: &'static str,
    /// The default of `points.{id}`.
    pub points: i16,
    pub strength: fn(&Scene<'_>) -> Percent,
}

/// In the order in which they are counted and told.
pub const RULES: [Rule; 13] = [
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

/// What each rule gives for the message that is the newest of the scene.
pub fn score(scene: &Scene<'_>) -> Points {
    let mut points = Points::default();
    for (place, rule) in RULES.iter().enumerate() {
        let worth = scene.policy.settings.points.0[place];
        if worth != 0 {
            points.0[place] = (rule.strength)(scene).of(worth);
        }
    }
    points
}
