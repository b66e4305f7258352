//! What holds for every talk: the invariants, tried on random worlds. A failure prints the shortest talk that shows it.

mod world;

use std::collections::BTreeMap;

use aizuchi_core::effect::Post;
use aizuchi_core::input::{Answer, Command};
use aizuchi_core::trace::Cause;
use aizuchi_core::types::{ClockShift, MessageId, Span, Time};
use aizuchi_core::{Effect, Engine, Input, Policies, Trace};
use proptest::prelude::*;
use world::clock::{noted, shifted, timeless};
use world::draw::Draw;
use world::ticks::{by_message, with_and_without_ticks};
use world::{Lived, Logged, PRESETS, SimulatedRun, Teller, What, live, of_room, policies, steps};

fn preset() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PRESETS.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariant 1: nothing but the inputs decides.
    #[test]
    fn the_same_talk_is_decided_the_same(preset in preset(), seed: u64, steps in steps(80)) {
        prop_assert_eq!(live(policies(preset, &[]), seed, &steps), live(policies(preset, &[]), seed, &steps));
    }

    /// Every message that is said is decided, once.
    #[test]
    fn every_message_is_decided_once(preset in preset(), seed: u64, steps in steps(80)) {
        let mut teller = Teller::default();
        let mut said: BTreeMap<MessageId, usize> = BTreeMap::new();
        for step in &steps {
            if let (_, Some(Input::Said(message))) = teller.tell(step) {
                *said.entry(message.id).or_default() += 1;
            }
        }
        let mut decided: BTreeMap<MessageId, usize> = BTreeMap::new();
        for trace in live(policies(preset, &[]), seed, &steps).traces {
            *decided.entry(trace.message).or_default() += 1;
        }
        prop_assert_eq!(said, decided);
    }

    /// Invariant 2: a timer acts at the instant it was due. Extra ticks and late ones change nothing.
    #[test]
    fn ticks_carry_no_information(preset in preset(), seed: u64, steps in steps(60), ticks in prop::collection::vec(0..600_000u64, 0..20), late_ms in 0..100_000u64) {
        // What one conversation of a place does may matter to another, as with threads, and so may the rest of an answer on its
        // way: the result of one timer comes before or after a later one is noticed. One at a time has to hold.
        let alone = || policies(preset, &["response.conversations_max=1", "reply.chunks=1"]);
        let (plain, ticked) = with_and_without_ticks(alone, seed, steps, ticks, Span(late_ms));
        prop_assert_eq!(plain.traces, ticked.traces);
    }

    /// The same of an answer in several posts, as far as ticks are extra and not late.
    #[test]
    fn extra_ticks_carry_no_information(preset in preset(), seed: u64, steps in steps(60), ticks in prop::collection::vec(0..600_000u64, 0..20)) {
        let alone = || policies(preset, &["response.conversations_max=1"]);
        let (plain, ticked) = with_and_without_ticks(alone, seed, steps, ticks, Span::ZERO);
        prop_assert_eq!(plain.traces, ticked.traces);
    }

    /// Invariant 3: a room lives alone as it does among others.
    #[test]
    fn a_room_alone_decides_as_among_others(preset in preset(), seed: u64, steps in steps(80)) {
        let together = live(policies(preset, &[]), seed, &steps);
        let mut teller = Teller::default();
        let mut life = SimulatedRun::new(policies(preset, &[]), seed);
        for step in &steps {
            if let (at, Some(input)) = teller.tell(step) && step.room == 1 {
                life.feed(at, input);
            }
        }
        prop_assert_eq!(by_message(of_room(together, "room1")), by_message(life.end()));
    }

    /// Invariant 4: a result nobody waits for changes nothing at all.
    #[test]
    fn a_stale_result_is_dropped(preset in preset(), seed: u64, steps in steps(40)) {
        let mut life = SimulatedRun::new(policies(preset, &[]), seed);
        let mut teller = Teller::default();
        for step in &steps {
            let (at, input) = teller.tell(step);
            let Some(input) = input else { continue };
            life.feed(at, input);
            let calls: Vec<_> = life.lived.log.iter().map(call_of).filter(|call| !life.sim.is_coming(call)).collect();
            let before = serde_json::to_string(&life.sim.engine.snapshot()).unwrap();
            let mut out = Vec::new();
            for call in calls {
                let answer = || Ok(Answer { text: r#"{"respond": true, "should_respond": true}"#.into(), usage: Default::default() });
                life.sim.engine.handle(at, Input::Judged(call.clone(), answer()), &mut out);
                life.sim.engine.handle(at, Input::Written(call.clone(), answer()), &mut out);
                life.sim.engine.handle(at, Input::Delivered(call, Ok(vec![])), &mut out);
            }
            prop_assert_eq!(out, vec![]);
            prop_assert_eq!(before, serde_json::to_string(&life.sim.engine.snapshot()).unwrap());
        }
    }

    /// Invariant 5: written down, read back and gone on from at any input, it does the same.
    #[test]
    fn a_snapshot_goes_on_as_if_nothing_had_been(preset in preset(), seed: u64, steps in steps(60), stop in 0..60usize) {
        let plain = live(policies(preset, &[]), seed, &steps);
        let mut life = SimulatedRun::new(policies(preset, &[]), seed);
        let mut teller = Teller::default();
        for (index, step) in steps.iter().enumerate() {
            if index == stop {
                let written = serde_json::to_vec(&life.sim.engine.snapshot()).unwrap();
                let read = serde_json::from_slice(&written).unwrap();
                life.sim.engine = Engine::restore(policies(preset, &[]), read).unwrap();
            }
            if let (at, Some(input)) = teller.tell(step) {
                life.feed(at, input);
            }
        }
        prop_assert_eq!(plain, life.end());
    }

    /// The same of each room by itself, packed: and the same room is always the same bytes.
    #[test]
    fn a_packed_room_goes_on_as_if_nothing_had_been(preset in preset(), seed: u64, steps in steps(60), every in 1..20usize) {
        let mut plain = SimulatedRun::new(policies(preset, &[]), seed);
        let mut packed = SimulatedRun::new(policies(preset, &[]), seed);
        let mut teller = Teller::default();
        for (index, step) in steps.iter().enumerate() {
            if let (at, Some(input)) = teller.tell(step) && step.room == 1 {
                let Some(room) = input.room().cloned() else { continue };
                plain.feed(at, input.clone());
                packed.feed(at, input);
                if index.is_multiple_of(every) && let Some(bytes) = packed.sim.engine.pack_room(&room) {
                    let mut unpacked = Engine::unpack_room(policies(preset, &[]), &bytes).unwrap();
                    let (again, never_packed) = (unpacked.pack_room(&room), plain.sim.engine.pack_room(&room));
                    prop_assert_eq!((again.as_ref(), never_packed.as_ref()), (Some(&bytes), Some(&bytes)));
                    packed.sim.engine = unpacked;
                }
            }
        }
        prop_assert_eq!(plain.end(), packed.end());
    }

    /// A clock that is set changes the times and nothing else: what waits lasts as long as it would have, and nobody is late.
    #[test]
    fn a_clock_that_is_set_changes_no_decision(preset in preset(), seed: u64, steps in steps(60), set_at in 0..60usize, by in -90_000_000..90_000_000i64) {
        let plain = live(policies(preset, &[]), seed, &steps);
        let mut life = SimulatedRun::new(policies(preset, &[]), seed);
        let mut teller = Teller::default();
        let mut shift = ClockShift(0);
        for (index, step) in steps.iter().enumerate() {
            let (at, input) = teller.tell(step);
            if index == set_at {
                shift = ClockShift(by);
                life.feed(at, Input::Tick);
                life.feed(at.shifted(shift), Input::ClockSet(shift));
            }
            if let Some(input) = input {
                life.feed(at.shifted(shift), shifted(input, shift));
            }
        }
        prop_assert_eq!(timeless(plain), timeless(life.end()));
    }

    /// Every time that is noted is set with the clock.
    #[test]
    fn a_clock_that_was_wrong_all_along_leaves_nothing_behind(preset in preset(), seed: u64, steps in steps(60), days in -3..4i64) {
        let (mut right, mut wrong) = (SimulatedRun::new(policies(preset, &[]), seed), SimulatedRun::new(policies(preset, &[]), seed));
        let (mut teller, mut last) = (Teller::default(), Time(0));
        // By whole days, so that a budget begins anew at the same moments.
        let by = days * 86_400_000;
        let off = ClockShift(-by);
        for step in &steps {
            let (at, input) = teller.tell(step);
            let Some(input) = input else { continue };
            right.feed(at, input.clone());
            wrong.feed(at.shifted(off), shifted(input, off));
            last = at;
        }
        wrong.feed(last, Input::ClockSet(ClockShift(by)));
        prop_assert_eq!(noted(&right.sim.engine), noted(&wrong.sim.engine));
        let restored = Engine::restore(policies(preset, &[]), right.sim.engine.snapshot()).unwrap();
        prop_assert_eq!(restored.next_deadline(), wrong.sim.engine.next_deadline());
    }

    /// However wrongly others date what they say: who calls is never too late, and nothing is newer than now.
    #[test]
    fn nobody_is_late_because_another_is_ahead(preset in preset(), seed: u64, steps in steps(60)) {
        let mut life = SimulatedRun::new(policies(preset, &[]), seed);
        let mut teller = Teller::default();
        for step in &steps {
            let (at, input) = teller.tell(step);
            let Some(input) = input else { continue };
            life.feed(at, input);
            if let (What::Says { .. } | What::SaysAhead { .. }, Some(trace)) = (&step.what, life.lived.traces.last()) {
                let late = matches!(trace.cause, Cause::Unheard(unheard) if unheard.is_late());
                prop_assert!(!late || trace.at < at, "{:?}", trace.cause);
            }
            prop_assert!(life.lived.traces.drain(..).all(|trace| trace.at <= at));
        }
    }

    /// Where there is a least interval, no two unasked posts leave inside it.
    #[test]
    fn unasked_posts_keep_their_distance(preset in prop::sample::select(vec!["aizuchi", "kotonoha"]), seed: u64, steps in steps(120)) {
        let policies = policies(preset, &[]);
        let interval = Span::seconds(policies.general().settings.gates.interval_seconds.into());
        let lived = live(policies, seed, &steps);
        let mut posted: BTreeMap<String, Vec<Time>> = BTreeMap::new();
        for trace in lived.traces.iter().filter(|trace| trace.addressed.is_none()) {
            posted.entry(trace.place.to_string()).or_default().extend(trace.acted_at);
        }
        // Posts leave before they are acknowledged; from delivery to the next departure the interval is kept.
        for (place, delivered) in posted {
            let mut left: Vec<Time> = lived.log.iter().filter_map(|logged| unasked_post(logged, &lived, &place)).collect();
            left.sort();
            for at in delivered {
                let next = left.iter().find(|departs| **departs > at);
                prop_assert!(next.is_none_or(|next| next.since(at) >= interval), "{place}: {at:?} then {next:?}");
            }
        }
    }

    /// A mute stops everything, an answer that is being written too, until it ends.
    #[test]
    fn nothing_is_posted_while_muted(preset in preset(), seed: u64, steps in steps(120)) {
        let mut teller = Teller::default();
        let mut life = SimulatedRun::new(policies(preset, &["address.be_quiet_minutes=0"]), seed);
        let mut muted: BTreeMap<String, Time> = BTreeMap::new();
        for step in &steps {
            let (at, input) = teller.tell(step);
            let Some(input) = input else { continue };
            let order = if let Input::Told(room, command) = &input { Some((room.to_string(), *command)) } else { None };
            // What leaves before the order is given is not its business.
            life.feed(at, Input::Tick);
            check_posts(&life.lived.log, &muted)?;
            life.lived.log.clear();
            match order {
                Some((room, Command::Mute(span))) => drop(muted.insert(room, span.map_or(Time(u64::MAX), |span| at + span))),
                Some((room, Command::Unmute)) => drop(muted.remove(&room)),
                _ => (),
            }
            life.feed(at, input);
            check_posts(&life.lived.log, &muted)?;
            life.lived.log.clear();
        }
    }

    /// Money is set aside before a call: no day has more calls than allowed, whatever is in flight at once.
    #[test]
    fn a_budget_is_never_overrun(preset in preset(), seed: u64, steps in steps(120), calls in 1..6u64) {
        let limit = format!("budget.calls_per_day={calls}");
        let lived = live(policies(preset, &[&limit]), seed, &steps);
        let mut paid: BTreeMap<(String, u64), u64> = BTreeMap::new();
        for logged in &lived.log {
            let (room, at) = match logged {
                Logged::Asked(ask) => (ask.call.room.to_string(), ask.at),
                Logged::Wrote(brief) => (brief.call.room.to_string(), brief.at),
                Logged::Posted(_) => continue,
            };
            *paid.entry((room, at.0 / 86_400_000)).or_default() += 1;
        }
        prop_assert!(paid.values().all(|paid| *paid <= calls), "{paid:?}");
    }

    /// The same over all rooms. Each room learns of it by an input in the journal, and decides alone as among others.
    #[test]
    fn a_budget_over_all_rooms_is_never_overrun(preset in preset(), seed: u64, steps in steps(120), calls in 1..6u64) {
        let limit = format!("budget.total_calls_per_day={calls}");
        let policies = policies(preset, &[&limit]);
        let (mut life, mut teller) = (SimulatedRun::new(policies.clone(), seed), Teller::default());
        life.sim.journal = Some(Vec::new());
        for step in &steps {
            if let (at, Some(input)) = teller.tell(step) {
                life.feed(at, input);
            }
        }
        life.sim.finish();
        let journal = life.sim.journal.take().expect("it was wanted");
        let together = by_message(life.end());
        let mut paid: BTreeMap<u64, u64> = BTreeMap::new();
        for at in together.log.iter().filter_map(paid_at) {
            *paid.entry(at.0 / 86_400_000).or_default() += 1;
        }
        prop_assert!(paid.values().all(|paid| *paid <= calls), "{paid:?}");
        for room in ["room0", "room1", "room2"] {
            let there = |trace: &&Trace| trace.place.room.as_str() == room;
            let among: Vec<Trace> = together.traces.iter().filter(there).cloned().collect();
            prop_assert_eq!(alone(policies.clone(), &journal, room), among);
        }
    }
}

/// When something was asked of a model.
fn paid_at(logged: &Logged) -> Option<Time> {
    match logged {
        Logged::Asked(ask) => Some(ask.at),
        Logged::Wrote(brief) => Some(brief.at),
        Logged::Posted(_) => None,
    }
}

/// What one room decides of its own records.
fn alone(policies: Policies, journal: &[(Time, Input)], room: &str) -> Vec<Trace> {
    let (mut engine, mut effects) = (Engine::new(policies), Vec::new());
    for (at, input) in journal {
        if input.room().is_none_or(|of| of.as_str() == room) {
            engine.handle(*at, input.clone(), &mut effects);
        }
    }
    let traces = effects.into_iter().filter_map(|effect| match effect {
        Effect::Trace(trace) => Some(*trace),
        _ => None,
    });
    by_message(Lived { traces: traces.collect(), log: Vec::new() }).traces
}

fn call_of(logged: &Logged) -> aizuchi_core::types::CallId {
    match logged {
        Logged::Asked(ask) => ask.call.clone(),
        Logged::Wrote(brief) => brief.call.clone(),
        Logged::Posted(delivery) => delivery.call.clone(),
    }
}

fn unasked_post(logged: &Logged, lived: &Lived, place: &str) -> Option<Time> {
    let Logged::Posted(delivery) = logged else { return None };
    if delivery.continues {
        return None;
    }
    let asked = lived.traces.iter().any(|trace| trace.message == delivery.answering && trace.addressed.is_some());
    (!asked && delivery.place.to_string() == place).then_some(delivery.at)
}

fn check_posts(log: &[Logged], muted: &BTreeMap<String, Time>) -> Result<(), TestCaseError> {
    for logged in log {
        let Logged::Posted(delivery) = logged else { continue };
        let until = muted.get(delivery.place.room.as_str());
        prop_assert!(until.is_none_or(|until| delivery.at >= *until), "{delivery:?} while muted until {until:?}");
    }
    Ok(())
}

/// A million messages through models that fail, dawdle and babble, with repetition, disorder, edits and deletions.
#[test]
fn a_million_messages_in_a_bad_world() {
    for (number, preset) in PRESETS.into_iter().enumerate() {
        let policies = policies(preset, &["response.max_wait_seconds=300"]);
        let part_chars = policies.general().settings.reply.part_chars as usize;
        let mut life = SimulatedRun::new(policies, number as u64);
        let mut teller = Teller::default();
        let mut said = 0u64;
        let mut decided = 0u64;
        let mut deleted: BTreeMap<MessageId, Time> = BTreeMap::new();
        let mut draw = Draw(number as u64);
        for _ in 0..260_000 {
            let step = draw.step();
            let (at, input) = teller.tell(&step);
            let Some(input) = input else { continue };
            match &input {
                Input::Said(_) => said += 1,
                Input::Changed(change) if change.text.is_none() => drop(deleted.insert(change.id.clone(), at)),
                _ => (),
            }
            life.feed(at, input);
            decided += life.lived.traces.drain(..).count() as u64;
            for logged in life.lived.log.drain(..) {
                let Logged::Posted(delivery) = logged else { continue };
                let gone = deleted.get(&delivery.answering).is_some_and(|gone| *gone < delivery.at);
                assert!(!gone, "{preset}: answered what was deleted: {delivery:?}");
                if let Post::Text(parts) = &delivery.post {
                    assert!(parts.iter().all(|part| part.chars().count() <= part_chars));
                }
            }
            if deleted.len() > 1000 {
                deleted.pop_first();
            }
        }
        let kept = serde_json::to_vec(&life.sim.engine.snapshot()).unwrap().len();
        assert!(kept < 3_000_000, "{preset}: {kept} bytes for three rooms");
        decided += life.end().traces.len() as u64;
        assert_eq!(said, decided, "{preset}");
        assert!(said > 200_000);
    }
}
