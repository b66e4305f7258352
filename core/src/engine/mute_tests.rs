//! How long a mute lasts if the clock of one start is wrong.

use super::tests::{engine, heard};
use crate::input::Command;
use crate::room::Mute;
use crate::types::{ClockShift, Place, RoomId, Span, Time};
use crate::{Engine, Input};

const MINUTE: Span = Span::minutes(1);
const HOUR: Span = Span::minutes(60);
const YEARS: Span = Span::minutes(8 * 365 * 24 * 60);
const BEGUN: Time = Time(1_700_000_000_000);

struct MuteBench {
    engine: Engine,
    now: Time,
}

impl MuteBench {
    fn begun() -> MuteBench {
        let mut life = MuteBench { engine: engine(&[]), now: BEGUN };
        let (_, said) = heard(1, "mia", false);
        life.handle(said);
        life
    }

    fn handle(&mut self, input: Input) {
        self.engine.handle(self.now, input, &mut Vec::new());
    }

    fn mute(&mut self, span: Span) {
        self.handle(Input::Told(RoomId::new("room"), Command::Mute(Some(span))));
    }

    /// The program is stopped and starts at this time, by a clock that went back if that is earlier.
    fn start_at(&mut self, now: Time) {
        let state = serde_json::to_string(&self.engine.snapshot()).unwrap();
        let policies = self.engine.policies().clone();
        self.engine = Engine::restore(policies, serde_json::from_str(&state).unwrap()).unwrap();
        let before = std::mem::replace(&mut self.now, now);
        self.handle(Input::PolicyChanged(Box::new(self.engine.policies().stated())));
        if now < before {
            self.handle(Input::ClockSet(ClockShift::between(before, now)));
        }
        self.handle(Input::Resumed);
    }

    fn is_set_to(&mut self, now: Time) {
        let by = ClockShift::between(self.now, now);
        self.now = now;
        self.handle(Input::ClockSet(by));
    }

    fn muted_for(&self) -> Option<Span> {
        match self.engine.view(&RoomId::new("room"), self.now).expect("it is known").mute? {
            Mute::Until(until) => Some(until.since(self.now)),
            Mute::Open => panic!("it has an end"),
        }
    }
}

#[test]
fn a_mute_outlives_a_start_with_a_clock_that_is_years_ahead() {
    let mut life = MuteBench::begun();
    life.mute(HOUR);
    life.start_at(BEGUN + YEARS);
    assert_eq!(life.muted_for(), None, "as far as the clock shows, years have passed");
    life.start_at(BEGUN + YEARS + MINUTE);
    life.start_at(BEGUN + MINUTE + MINUTE);
    assert_eq!(life.muted_for(), Some(Span::minutes(58)));

    // It is set right while the program runs; the mute is longer than the clock was ahead.
    let mut life = MuteBench::begun();
    life.mute(Span::minutes(48 * 60));
    life.start_at(BEGUN + Span::minutes(9 * 60));
    life.is_set_to(BEGUN + MINUTE);
    assert_eq!(life.muted_for(), Some(Span::minutes(48 * 60 - 1)));
}

#[test]
fn a_mute_by_a_clock_that_was_ahead_lasts_as_long_as_it_was_meant_to() {
    let mut life = MuteBench::begun();
    life.start_at(BEGUN + YEARS);
    life.mute(HOUR);
    life.start_at(BEGUN + MINUTE);
    assert_eq!(life.muted_for(), Some(HOUR));

    // It was ahead all along: the clock goes back by more than the program was away.
    let mut life = MuteBench::begun();
    life.mute(HOUR);
    life.start_at(BEGUN + MINUTE);
    life.is_set_to(BEGUN + MINUTE - Span::minutes(24 * 60));
    assert_eq!(life.muted_for(), Some(Span::minutes(59)));
}

#[test]
fn a_mute_that_really_ended_does_not_come_back() {
    let mut life = MuteBench::begun();
    life.mute(HOUR);
    life.start_at(BEGUN + YEARS);
    life.is_set_to(BEGUN + YEARS - HOUR);
    assert_eq!(life.muted_for(), None);
}

#[test]
fn what_other_rooms_hear_changes_no_mute() {
    let muted_for = |others_talk: bool| {
        let mut life = MuteBench::begun();
        life.mute(HOUR);
        life.now = BEGUN + Span::minutes(30);
        if others_talk {
            let (_, Input::Said(mut message)) = heard(2, "lena", false) else { unreachable!("it was said") };
            (message.place, message.at) = (Place::room("garden"), life.now);
            life.handle(Input::Said(message));
        }
        life.start_at(BEGUN + Span::minutes(31));
        life.is_set_to(BEGUN + Span::minutes(11));
        life.muted_for()
    };
    assert_eq!(muted_for(true), muted_for(false));
}
