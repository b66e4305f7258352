//! Rooms on Restate decide as the simulation does, and so as a single process does: `virtual_time` compares those two over the same talks.

use std::collections::HashMap;

use aizuchi::cluster::{RoomState, Stamped};
use aizuchi::journal::{Engines, Record};
use aizuchi::replay::{OwnPosts, relive, run as replay};
use aizuchi::runtime::Clock;
use aizuchi_core::sim::StandIn;
use aizuchi_core::types::{ClockShift, RoomId};
use aizuchi_core::{Input, Time, Trace};
use aizuchi_formats::Event as Recorded;

use super::held_models::HeldModels;
use super::one_node::OneNode;
use crate::made_up::{START, policies};
use crate::talks::{A_DAY, day, essence, hour, sample, script};

/// A state in Restate is to be smaller than this, of a room in which much is said.
const STATE_BYTES_MAX: usize = 10_000;

/// Something that is next.
enum Next {
    Answer(Time),
    Tick(RoomId, Time),
    Event,
}

/// Time runs from one thing to the next, as in the simulation.
struct Driver<'a> {
    node: &'a OneNode,
    models: &'a HeldModels,
    rooms: HashMap<RoomId, RoomState>,
    now: Time,
    told: u64,
    largest: usize,
}

impl Driver<'_> {
    fn set_clock(&mut self, at: Time) {
        self.node.clock.set(ClockShift::between(self.now, at));
        self.now = at;
    }

    /// At the same instant an answer comes first, and then a deadline.
    fn next(&self, event: Option<Time>) -> Option<(Time, Next)> {
        let answer = self.models.next().map(|at| (at, 0, Next::Answer(at)));
        let armed = self.rooms.iter().filter_map(|(room, state)| Some((state.armed?, room)));
        let tick = armed.min().map(|(due, room)| (due, 1, Next::Tick(room.clone(), due)));
        let event = event.map(|at| (at, 2, Next::Event));
        let first = [answer, tick, event].into_iter().flatten().min_by_key(|(at, rank, _)| (*at, *rank));
        first.map(|(at, _, next)| (at, next))
    }

    async fn look(&mut self) {
        let rooms: Vec<RoomId> = self.rooms.keys().cloned().collect();
        let states = self.node.rest(self.models, &rooms).await;
        self.largest = states.iter().map(|state| state.encode().len()).chain([self.largest]).max().unwrap_or_default();
        self.rooms = rooms.into_iter().zip(states).collect();
    }

    /// Lets time run up to an event, or until nothing is pending.
    async fn run_until(&mut self, event: Option<&Recorded>) {
        while let Some((at, next)) = self.next(event.map(|event| event.at)) {
            // What is due only after a timer that rang late is due at once.
            self.set_clock(at.max(self.now));
            match next {
                Next::Answer(at) => self.models.release(at),
                Next::Tick(room, due) => self.node.restate.tick(&room, due.0).await.expect("a room takes the time"),
                Next::Event => {
                    let event = event.expect("it is next");
                    self.tell(event).await;
                    return self.look().await;
                }
            }
            self.look().await;
        }
    }

    async fn tell(&mut self, event: &Recorded) {
        let room = event.input.room().expect("people talk in rooms").clone();
        self.told += 1;
        let told = [Stamped::new(event.at, event.input.clone())];
        self.node.restate.call(&room, &format!("told-{}", self.told), &told).await.expect("a room listens");
        self.rooms.entry(room).or_default();
    }
}

/// What the cluster decides.
async fn live(settings: &[&str], events: &[Recorded]) -> Vec<Trace> {
    let policies = policies(settings);
    let models = HeldModels::new(script(), &policies);
    let node = OneNode::start(policies, models.clone(), Clock::standing_at(START)).await;
    let mut driver = Driver { node: &node, models: &models, rooms: HashMap::new(), now: START, told: 0, largest: 0 };
    for event in events {
        driver.run_until(Some(event)).await;
    }
    driver.run_until(None).await;
    println!("{settings:?}: {} events, the largest state has {} bytes", events.len(), driver.largest);
    assert!(driver.largest <= STATE_BYTES_MAX, "{} bytes", driver.largest);
    let (lived, records) = (node.traces().await, node.records().await);
    check_journal(settings, &lived, &records);
    lived
}

/// What is recorded, once more: `aizuchi replay --journal` decides the same.
fn check_journal(settings: &[&str], lived: &[Trace], records: &[Record]) {
    let relived = relive(Engines::fresh(&policies(settings)), records, None, &mut |_| ()).decided;
    assert_eq!(relived.len(), lived.len(), "{settings:?}: every message is decided again");
    for lived in lived {
        let lived = Trace { received: None, ..lived.clone() };
        let again = relived.iter().find(|decided| decided.trace.message == lived.message).expect("it was counted");
        assert_eq!(essence(&again.trace), essence(&lived), "{settings:?}: from the journal");
    }
}

async fn check(settings: &[&str], events: Vec<Recorded>) {
    let said = events.iter().filter(|event| matches!(event.input, Input::Said(_))).count();
    let mut lived = live(settings, &events).await;
    let policies = policies(settings);
    let expected =
        replay(policies.clone(), StandIn::new(false, script(), &policies), events, OwnPosts::Ignored, &mut |_| ());
    assert_eq!((lived.len(), expected.len()), (said, said), "{settings:?}: every message is decided once");
    let index = |trace: &Trace| expected.iter().position(|decided| decided.trace.message == trace.message);
    lived.sort_by_key(index);
    for (lived, expected) in lived.iter().zip(&expected) {
        // What people made of it is stored with it, and told later by a replay.
        let lived = &Trace { received: None, ..lived.clone() };
        assert_eq!(essence(lived), essence(&expected.trace), "{settings:?}");
        assert_eq!(lived.acted_at, expected.trace.acted_at, "{settings:?}: {}", lived.message);
    }
    assert!(expected.iter().any(|decided| decided.trace.acted_at.is_some()), "{settings:?}: nothing was said");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sample_is_decided_as_in_a_replay() {
    check(&["preset=aizuchi"], sample()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_hour_is_decided_as_in_a_replay() {
    check(&["preset=aizuchi"], hour()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_day_is_decided_as_in_a_replay() {
    check(&A_DAY, day()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_points_decide_as_in_a_replay() {
    check(&["preset=sphene", "bot.name=aizuchi", "address.name=true"], hour()).await;
}
