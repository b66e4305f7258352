//! Two people talk with each other.
use super::{Percent, Rule, Scene};

pub(super) const RULE: Rule = Rule { id: "two_people", points: -10, strength };

fn strength(scene: &Scene<'_>) -> Percent {
    let mut people = scene.people.iter().map(|heard| heard.speaker);
    let Some(first) = people.next() else { return Percent::NONE };
    let Some(second) = people.find(|speaker| *speaker != first) else { return Percent::NONE };
    Percent::all_or_none(people.all(|speaker| speaker == first || speaker == second))
}
