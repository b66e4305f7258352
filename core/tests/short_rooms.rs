//! How much it says in rooms that are over before it knows them: many short rooms, one after the other and all at once.

use aizuchi_core::effect::Outcome;
use aizuchi_core::settings::Layers;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::sim::{Sim, StandIn};
use aizuchi_core::types::{Author, MessageId, PersonId, Place, Span, Visibility, Voice};
use aizuchi_core::{Engine, Input, Message, Policies, Time, Trace};

/// A small generator of its own, so that the talk is the same for ever.
struct RoomDraw(u64);

impl RoomDraw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

const WORDS: [&str; 20] = [
    "report", "build", "garden", "tea", "river", "code", "test", "note", "plan", "list", "page", "song", "book",
    "train", "window", "paper", "cloud", "stone", "bread", "road",
];
const ROOMS: u64 = 120;
const MESSAGES: u64 = 105;

/// Two people who talk to each other: hardly a place where somebody joins, so that rooms in general tell nothing of it.
fn talk_of_two(room: u64, begins: Time, draw: &mut RoomDraw) -> Vec<(Time, Input)> {
    let mut at = begins;
    let said = |nth: u64| {
        at = at + Span::seconds([5, 10, 20, 40][draw.below(4) as usize]);
        let turn = (nth + u64::from(draw.below(5) == 0)) % 2;
        let words: Vec<&str> = (0..3 + draw.below(12)).map(|_| WORDS[draw.below(20) as usize]).collect();
        let text = format!("{}{}", words.join(" "), ["", "", "", ".", "!", "?"][draw.below(6) as usize]);
        let name = format!("p{}", 2 * room + turn);
        let message = Message {
            id: MessageId::new(format!("{room}-{nth}")),
            place: Place::room(format!("room{room}")),
            at,
            author: Author { id: PersonId::new(&name), name: name.into(), voice: Voice::Person },
            text: text.into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: Some(at),
        };
        (at, Input::Said(message))
    };
    (0..MESSAGES).map(said).collect()
}

fn policies() -> Policies {
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    // Joining alone: to go on in a conversation it takes part in does not count.
    ["score.turn_low=101", "score.turn_high=101"].into_iter().for_each(|setting| layers.add_assignment(setting));
    layers.resolve(&|_| None).expect("the settings fit")
}

/// All rooms; each begins so long after the one before.
fn all_rooms(apart: Span) -> Vec<(Time, Input)> {
    let mut draw = RoomDraw(7);
    let mut all = Vec::new();
    for room in 0..ROOMS {
        all.extend(talk_of_two(room, Time(1_700_000_000_000 + room * apart.0), &mut draw));
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

fn live(talk: Vec<(Time, Input)>, siblings: Option<Siblings>) -> (Vec<Trace>, Vec<(Time, Input)>) {
    let policies = policies();
    let mut sim = Sim::new(Engine::new(policies.clone()), StandIn::new(true, Vec::new(), &policies));
    (sim.siblings, sim.journal) = (siblings, Some(Vec::new()));
    talk.into_iter().for_each(|(at, input)| sim.feed(at, input));
    sim.finish();
    (std::mem::take(&mut sim.traces), sim.journal.take().unwrap_or_default())
}

fn share(traces: &[Trace]) -> f64 {
    let spoke = |trace: &&Trace| matches!(trace.outcome, Outcome::Replies | Outcome::Acknowledges);
    traces.iter().filter(spoke).count() as f64 / traces.len() as f64
}

#[test]
fn short_rooms_get_the_share_that_is_asked_for() {
    for (apart, how) in [(Span::minutes(240), "one after the other"), (Span::ZERO, "all at once")] {
        let (traces, _) = live(all_rooms(apart), Some(Siblings::default()));
        let share = share(&traces);
        println!("{how}: {:.2} %", 100.0 * share);
        assert!((0.021..=0.0375).contains(&share), "{how}: {:.2} % instead of 3 %", 100.0 * share);
    }
}

/// A room that is replayed alone decides as it did, by what it learned then.
#[test]
fn what_it_was_told_of_its_siblings_is_part_of_the_record() {
    let (traces, journal) = live(all_rooms(Span::minutes(240)), Some(Siblings::default()));
    let place = Place::room(format!("room{}", ROOMS - 1));
    let told = |input: &Input| matches!(input, Input::Siblings(..)) && input.room() == Some(&place.room);
    assert!(journal.iter().any(|(_, input)| told(input)), "the last room knows its siblings");
    let recorded = |(_, input): &(Time, Input)| input.is_by_people() || matches!(input, Input::Siblings(..));
    let own: Vec<_> = journal.into_iter().filter(recorded).filter(|(_, it)| it.room() == Some(&place.room)).collect();
    let decided = |traces: &[Trace]| {
        let here = traces.iter().filter(|trace| trace.place == place);
        here.map(|trace| (trace.message.clone(), trace.outcome, trace.bar)).collect::<Vec<_>>()
    };
    let (alone, _) = live(own.clone(), None);
    assert_eq!(decided(&alone), decided(&traces));
    let untold = own.into_iter().filter(|(_, input)| input.is_by_people()).collect();
    assert_ne!(decided(&live(untold, None).0), decided(&traces), "and it matters");
}
