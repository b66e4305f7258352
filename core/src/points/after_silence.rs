//! The first message after a long silence: a good moment to take part.
use super::{Percent, Rule, Scene};
use crate::types::{Span, Time};

pub(super) const RULE: Rule = Rule { id: "after_silence", points: 10, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let score = &scene.policy.settings.score;
    let silence = Span::seconds(score.silence_seconds.into());
    let buffered = || scene.people.get(..2).map(|latest| (latest[0].at, latest[1].at));
    let remembered = || {
        let before = scene.place.heard_before;
        (before > Time(0)).then_some((scene.place.last_heard, before))
    };
    let latest_two = if score.silence_beyond_buffer { remembered() } else { buffered() };
    Percent::all_or_none(latest_two.is_some_and(|(newest, before)| newest.since(before) >= silence))
}
