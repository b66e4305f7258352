//! Answers in several posts, as people see them arrive: once, in their order, and no other answer between them.

use std::collections::BTreeMap;

use aizuchi_core::effect::{Delivery, Post};
use aizuchi_core::types::{Place, RoomId, Time};
use aizuchi_core::view::PendingStage;
use aizuchi_core::{Effect, Engine, Input, Policies};
use proptest::prelude::*;

use super::{Logged, Moody, PRESETS, SimulatedRun, Teller, policies, steps};

/// The sentences of a post that say of which answer they are and which number they have; none where they do not.
fn sentences(delivery: &Delivery) -> Vec<(String, u32)> {
    let Post::Text(parts) = &delivery.post else { return Vec::new() };
    let text = parts.join(" ");
    let numbered = text.split(". ").filter_map(|sentence| {
        let (answer, rest) = sentence.trim().split_once(" has ")?;
        Some((answer.to_owned(), rest.split(' ').next()?.parse().ok()?))
    });
    numbered.collect()
}

/// What is wrong with how answers came: nothing is posted twice, and no post comes between two of another answer. A post that is
/// sent again under the same number is the same post.
fn problem(log: &[Logged], world: &Moody) -> Option<String> {
    let mut places: BTreeMap<&Place, Vec<&Delivery>> = BTreeMap::new();
    for logged in log {
        let Logged::Posted(delivery) = logged else { continue };
        let posts = places.entry(&delivery.place).or_default();
        match posts.iter().find(|post| post.call == delivery.call) {
            Some(first) if first.post != delivery.post => return Some(format!("{first:?} became {delivery:?}")),
            Some(_) => (),
            None if matches!(delivery.post, Post::Reaction(_)) => (),
            None => posts.push(delivery),
        }
    }
    places.values().find_map(|posts| problem_in_place(posts, world))
}

fn problem_in_place(posts: &[&Delivery], world: &Moody) -> Option<String> {
    let mut told: BTreeMap<String, u32> = BTreeMap::new();
    for (index, post) in posts.iter().enumerate() {
        let before = index.checked_sub(1).map(|index| posts[index]);
        let answer = |post: &Delivery| sentences(post).first().map(|(answer, _)| answer.clone());
        if post.continues && before.and_then(answer) != answer(post) {
            return Some(format!("{post:?} goes on with {before:?}"));
        }
        let overtakes = |before: &Delivery| post.at < before.at + world.takes(&before.call);
        if let Some(before) = before.filter(|before| (before.continues || post.continues) && overtakes(before)) {
            return Some(format!("{post:?} overtakes {before:?}"));
        }
        for (answer, number) in sentences(post) {
            let last = told.insert(answer.clone(), number).unwrap_or(0);
            if number != last + 1 {
                return Some(format!("{answer}: {number} after {last} in {posts:?}"));
            }
        }
    }
    None
}

/// Answers that are long enough to come as several posts.
fn in_chunks(preset: &str) -> Policies {
    policies(preset, &["reply.chunks=3", "address.name=true"])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever happens in between: the posts of an answer come in their order, once, and no other answer between them. Where the
    /// program stops at any moment, too.
    #[test]
    fn posts_of_an_answer_come_once_and_together(preset in prop::sample::select(PRESETS.to_vec()), seed: u64, steps in steps(120), stop in 0..120usize) {
        let mut life = SimulatedRun::new(in_chunks(preset), seed);
        let mut teller = Teller::default();
        for (index, step) in steps.iter().enumerate() {
            let (at, input) = teller.tell(step);
            let Some(input) = input else { continue };
            if index == stop {
                let written = serde_json::to_vec(&life.sim.engine.snapshot()).unwrap();
                life.sim.engine = Engine::restore(in_chunks(preset), serde_json::from_slice(&written).unwrap()).unwrap();
                life.sim.lose_answers();
                life.sim.feed_late(at, Input::Resumed);
            }
            life.feed(at, input);
        }
        life.sim.finish();
        life.collect();
        prop_assert_eq!(problem(&life.lived.log, &life.sim.oracle), None);
        let idle = Engine::restore(in_chunks(preset), life.sim.engine.snapshot()).unwrap();
        prop_assert_eq!(waiting(&idle), 0, "something waits for ever");
    }

    /// A journal read again sends the same posts.
    #[test]
    fn a_journal_read_again_posts_the_same(preset in prop::sample::select(PRESETS.to_vec()), seed: u64, steps in steps(80)) {
        let mut life = SimulatedRun::new(in_chunks(preset), seed);
        life.sim.journal = Some(Vec::new());
        let mut teller = Teller::default();
        for step in &steps {
            if let (at, Some(input)) = teller.tell(step) {
                life.feed(at, input);
            }
        }
        life.sim.finish();
        life.collect();
        let (mut engine, mut effects) = (Engine::new(in_chunks(preset)), Vec::new());
        for (at, input) in life.sim.journal.take().expect("it was wanted") {
            engine.handle(at, input, &mut effects);
        }
        let again = effects.into_iter().filter_map(|effect| match effect {
            Effect::Deliver(delivery) => Some(*delivery),
            _ => None,
        });
        let posted = life.lived.log.into_iter().filter_map(|logged| match logged {
            Logged::Posted(delivery) => Some(delivery),
            Logged::Asked(_) | Logged::Wrote(_) => None,
        });
        prop_assert_eq!(again.collect::<Vec<_>>(), posted.collect::<Vec<_>>());
    }
}

/// Posts that left without an acknowledgement, or have not left.
fn waiting(engine: &Engine) -> usize {
    let views = ["room0", "room1", "room2"].map(|room| engine.view(&RoomId::new(room), Time(u64::MAX)));
    let places = views.into_iter().flatten().flat_map(|view| view.places);
    places.flat_map(|place| place.pending).filter(|pending| pending.doing == PendingStage::Posting).count()
}
