//! What rooms of one kind are like. A shell adds up how likely messages were in all rooms with the same talk share, and
//! sends the result to a room that has few messages of its own as [`Input::Siblings`], so that it decides the same alone as
//! among others.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::Engine;
use crate::input::Input;
use crate::likelihood::SiblingTalk;
use crate::likelihood::steps::{STEPS, step_of};
use crate::trace::Trace;
use crate::types::{RoomId, Share};

/// A histogram of likelihoods for the rooms of each kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(TalkKind, [f32; STEPS])>", into = "Vec<(TalkKind, [f32; STEPS])>")]
pub struct Siblings {
    kinds: BTreeMap<TalkKind, [f32; STEPS]>,
}

impl From<Vec<(TalkKind, [f32; STEPS])>> for Siblings {
    fn from(kinds: Vec<(TalkKind, [f32; STEPS])>) -> Siblings {
        Siblings { kinds: kinds.into_iter().collect() }
    }
}

impl From<Siblings> for Vec<(TalkKind, [f32; STEPS])> {
    fn from(siblings: Siblings) -> Vec<(TalkKind, [f32; STEPS])> {
        siblings.kinds.into_iter().collect()
    }
}

/// Rooms of one kind have the same talk share, and rate messages in the same way.
type TalkKind = (Share, bool);

/// With fewer messages than this, the figures of rooms in general are better.
const MESSAGES_MIN: f32 = 200.0;
/// The number of messages after which all counts are halved.
const FORGET_AFTER: f32 = 50_000.0;

impl Siblings {
    /// Adds the rooms of an engine in the state in which it stopped.
    pub fn take_over(&mut self, engine: &Engine) {
        for (room, seen) in engine.talk_by_room() {
            let Some(kind) = kind_of(engine, room) else { continue };
            let counts = self.kinds.entry(kind).or_insert([0.0; STEPS]);
            counts.iter_mut().zip(seen).for_each(|(count, more)| *count += more);
        }
    }

    /// Adds what somebody else has seen.
    pub fn add(&mut self, other: &Siblings) {
        for (kind, seen) in &other.kinds {
            let counts = self.kinds.entry(*kind).or_insert([0.0; STEPS]);
            counts.iter_mut().zip(seen).for_each(|(count, more)| *count += more);
            forget_old(counts);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// A message was rated.
    pub fn note(&mut self, engine: &Engine, trace: &Trace) {
        let Some((bar, kind)) = trace.bar.zip(kind_of(engine, &trace.place.room)) else { return };
        let counts = self.kinds.entry(kind).or_insert([0.0; STEPS]);
        counts[step_of(bar.worth)] += 1.0;
        forget_old(counts);
    }

    /// The input that this room should get now, if any.
    pub fn introduce(&self, engine: &Engine, room: &RoomId) -> Option<Input> {
        let counts =
            kind_of(engine, room).filter(|_| engine.wants_siblings(room)).and_then(|kind| self.kinds.get(&kind))?;
        let all: f32 = counts.iter().sum();
        let siblings = SiblingTalk(counts.map(|count| count / all));
        (all >= MESSAGES_MIN).then(|| Input::Siblings(room.clone(), Box::new(siblings)))
    }
}

fn forget_old(counts: &mut [f32; STEPS]) {
    if counts.iter().sum::<f32>() >= FORGET_AFTER {
        counts.iter_mut().for_each(|count| *count /= 2.0);
    }
}

fn kind_of(engine: &Engine, room: &RoomId) -> Option<TalkKind> {
    let learned = engine.policies().for_room(room.as_str()).settings.score.learned;
    Some((engine.talk_share(room)?, learned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn siblings(kind: TalkKind, step: usize, count: f32) -> Siblings {
        let mut counts = [0.0; STEPS];
        counts[step] = count;
        Siblings::from(vec![(kind, counts)])
    }

    #[test]
    fn what_others_have_seen_is_added_and_survives_being_stored() {
        let quiet = (Share::parse("1%").unwrap(), true);
        let lively = (Share::parse("5%").unwrap(), true);
        let mut all = siblings(quiet, 3, 100.0);
        all.add(&siblings(quiet, 3, 50.0));
        all.add(&siblings(lively, 3, 7.0));
        assert_eq!((all.kinds[&quiet][3], all.kinds[&lively][3]), (150.0, 7.0));
        let stored = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Siblings>(&stored).unwrap(), all);
        all.add(&siblings(quiet, 0, FORGET_AFTER));
        assert_eq!(all.kinds[&quiet][3], 75.0, "old messages count less");
    }
}
