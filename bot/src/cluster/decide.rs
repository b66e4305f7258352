//! What a room makes of its inputs: pure, so that every attempt of an invocation has the same result.

use std::sync::Arc;

use aizuchi_core::effect::{DecisionReport, Effect};
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::room::Spent;
use aizuchi_core::types::{ClockShift, RoomId, Span};
use aizuchi_core::{Engine, Input, Policies, Time, Trace};

use super::context::KnownPolicies;
use super::poison::{Panicked, Poison, Remedy, Step, caught};
use super::state::{RoomState, Stamped};
use crate::journal::traces::is_repeat;
use crate::language::Language;
use crate::ports::{RoomBatch, RoomSpending, SetAside, TotalLimit};

/// What came of it.
pub struct RoomOutcome {
    pub state: RoomState,
    /// What is to be done, in its order: no decisions.
    pub effects: Vec<Effect>,
    /// What is to be recorded.
    pub batch: Arc<RoomBatch>,
    /// How many of the decisions are new; the rest tell more of those before.
    new_decisions: usize,
    pub engine: Engine,
    pub deadline: Option<Time>,
    /// Whether somebody said something.
    pub was_said: bool,
}

impl RoomOutcome {
    /// Decisions that were made now, and what people made of earlier ones.
    pub fn new_decisions(&self) -> &[Trace] {
        &self.batch.decided[..self.new_decisions]
    }
}

/// `Err` if nobody can go on with this room for now: its state cannot be read, or the engine panics whatever is left out.
pub fn decide(
    room: &RoomId,
    before: &RoomState,
    policies: &KnownPolicies,
    news: &RoomNews,
) -> Result<RoomOutcome, String> {
    let mut poison = Poison::default();
    // What a step that panics left behind is not to be trusted: it begins anew, and helps itself at that step.
    loop {
        match attempt(room, before, policies, news, &poison)? {
            Ok(outcome) => return Ok(outcome),
            Err(panicked) => poison.add(panicked)?,
        }
    }
}

/// What arrives at a room.
#[derive(Debug, Default)]
pub struct RoomNews {
    pub told: Vec<Stamped>,
    /// Who is to be forgotten after that.
    pub forget: Option<ForgetRequest>,
    /// Inputs that cannot be parsed, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

impl RoomNews {
    /// From a list of [`Stamped`]. What cannot be parsed takes nothing else with it.
    pub fn parse(told: &[u8]) -> RoomNews {
        let whole = |error: serde_json::Error| {
            let unreadable = vec![(String::from_utf8_lossy(told).into_owned(), error.to_string())];
            RoomNews { unreadable, ..RoomNews::default() }
        };
        if let Ok(told) = serde_json::from_slice(told) {
            return RoomNews { told, ..RoomNews::default() };
        }
        let items: Vec<serde_json::Value> = match serde_json::from_slice(told) {
            Ok(items) => items,
            Err(error) => return whole(error),
        };
        let mut news = RoomNews::default();
        for item in items {
            let written = item.to_string();
            match serde_json::from_value(item) {
                Ok(stamped) => news.told.push(stamped),
                Err(error) => news.unreadable.push((written, error.to_string())),
            }
        }
        news
    }
}

/// A clock that seems to be behind by less is one of another machine, or something took long to arrive.
const CLOCK_SET_MIN: Span = Span::minutes(1);

/// So many inputs in a row that panic may be a coincidence. With one more it is the room that is at fault.
const LEFT_OUT_MAX: u32 = 2;

fn attempt(
    room: &RoomId,
    before: &RoomState,
    policies: &KnownPolicies,
    news: &RoomNews,
    poison: &Poison,
) -> Result<Result<RoomOutcome, Panicked>, String> {
    let attempt = RoomAttempt::begin(room, before, policies, poison)?;
    Ok(attempt.run(before, policies, news))
}

/// A room while it handles what has reached it.
struct RoomAttempt<'a> {
    engine: Engine,
    state: RoomState,
    effects: Vec<Effect>,
    batch: RoomBatch,
    deadline: Option<Time>,
    was_said: bool,
    poison: &'a Poison,
}

impl<'a> RoomAttempt<'a> {
    fn begin(
        room: &RoomId,
        before: &RoomState,
        policies: &KnownPolicies,
        poison: &'a Poison,
    ) -> Result<RoomAttempt<'a>, String> {
        let known = (*policies.policies).clone();
        let engine = match &before.packed[..] {
            [] => Engine::new(known),
            packed => Engine::unpack_room(known, packed)?,
        };
        let batch = RoomBatch { policies: Some(policies.id), ..RoomBatch::new(room.clone(), before.records) };
        let state = before.notes();
        Ok(RoomAttempt { engine, state, effects: Vec::new(), batch, deadline: None, was_said: false, poison })
    }

    fn run(mut self, before: &RoomState, policies: &KnownPolicies, news: &RoomNews) -> Result<RoomOutcome, Panicked> {
        let spent_before = self.engine.spent(&self.batch.room).cloned();
        if self.state.policies != Some(policies.id) {
            let first = news.told.first().map_or(Time(0), |first| first.at);
            self.state.last = first.max(self.state.last);
            self.state.policies = Some(policies.id);
            let stated = Input::PolicyChanged(Box::new(policies.stated.clone()));
            self.step(Step::Settings, |attempt| attempt.add(stated))?;
        }
        if is_taken_over(before) {
            self.step(Step::TakeOver, |attempt| attempt.add(Input::Resumed))?;
        }
        for (input, error) in &news.unreadable {
            self.set_aside(input.clone(), error.clone());
        }
        if news.told.is_empty() && !news.unreadable.is_empty() {
            // An attempt that comes again is recognised by what is recorded.
            self.step(Step::Due(0), |attempt| attempt.add(Input::Tick))?;
        }
        for (index, stamped) in news.told.iter().enumerate() {
            self.hear(index, stamped)?;
        }
        if let Some(request) = &news.forget {
            self.step(Step::Forget, |attempt| attempt.forget(request))?;
        }
        self.step(Step::Pack, |attempt| attempt.pack(spent_before.as_ref(), is_taken_over(before)))?;
        Ok(self.into_outcome())
    }

    /// Does a step. Where it is known to panic, the room first begins anew or goes on without it; returns `false` then.
    fn step(&mut self, step: Step, act: impl FnOnce(&mut Self)) -> Result<bool, Panicked> {
        let poison = self.poison;
        match poison.remedy(step) {
            None => (),
            Some((Remedy::BeginAnew, error)) => {
                self.set_aside(step.shown().to_owned(), error.to_owned());
                let room = self.batch.room.clone();
                caught(step, || self.add(Input::StartedOver(room)))?;
            }
            Some((Remedy::LeaveOut, error)) => {
                self.set_aside(step.shown().to_owned(), error.to_owned());
                return Ok(false);
            }
        }
        caught(step, || act(self))?;
        Ok(true)
    }

    /// Handles an input, which is recorded.
    fn add(&mut self, input: Input) {
        self.batch.records.push((self.state.last, input.clone()));
        self.engine.handle(self.state.last, input, &mut self.effects);
    }

    fn hear(&mut self, index: usize, stamped: &Stamped) -> Result<(), Panicked> {
        let Stamped { at, input, number, handed_over } = stamped;
        if let Some(number) = *number {
            // Told again after something newer, an edit would undo that.
            if number <= self.state.heard {
                return Ok(());
            }
            self.state.heard = number;
        }
        if let Some(now) = *handed_over {
            self.set_clock_back(index, now)?;
        }
        self.state.last = self.state.last.max(*at);
        if let Some(call) = input.call() {
            self.state.calls.remove(&call.serial);
            self.state.posts.remove(&call.serial);
        }
        // The engine does what is due before it handles an input. Done by itself, it is clear which of them panics.
        let (now, due) = (self.state.last, Step::Due(index));
        self.step(due, |attempt| attempt.engine.handle(now, Input::Tick, &mut attempt.effects))?;
        let poison = self.poison;
        let step = if self.state.left_out < LEFT_OUT_MAX { Step::Hear(index) } else { Step::HearInDoubt(index) };
        if let Some((Remedy::LeaveOut, error)) = poison.remedy(step) {
            self.set_aside(serde_json::to_string(input).unwrap_or_default(), error.to_owned());
            self.state.left_out += 1;
            // What was due is done nevertheless.
            self.batch.records.push((now, Input::Tick));
            return Ok(());
        }
        self.step(step, |attempt| attempt.add(input.clone()))?;
        self.state.left_out = 0;
        if let Input::Said(message) = input {
            self.was_said = true;
            self.state.language = Some(Language::of_text(&message.text).id().to_owned());
        }
        Ok(())
    }

    /// Whatever the room has heard was handed over before `now`. If its own time is later nevertheless, the clock was set back since:
    /// it goes on by the clock as it is now, or nothing that is due would come for as long as that was.
    fn set_clock_back(&mut self, index: usize, now: Time) -> Result<(), Panicked> {
        if self.state.last.since(now) <= CLOCK_SET_MIN {
            return Ok(());
        }
        let by = ClockShift::between(self.state.last, now);
        // The timer that is set rings by the clock of before.
        (self.state.last, self.state.armed) = (now, None);
        self.step(Step::Clock(index), |attempt| attempt.add(Input::ClockSet(by))).map(drop)
    }

    fn set_aside(&mut self, input: String, error: String) {
        self.batch.set_aside.push(SetAside { room: self.batch.room.clone(), at: self.state.last, input, error });
    }

    fn forget(&mut self, request: &ForgetRequest) {
        let mut effects = Vec::new();
        self.engine.forget(self.state.last, &request.recognizer(), &mut effects);
        // Decisions that this ends are about what is forgotten, or made again.
        self.effects.extend(effects.into_iter().filter_map(|effect| effect.into_report().err()));
    }

    /// Takes from the engine what is kept of the room.
    fn pack(&mut self, spent_before: Option<&Spent>, is_taken_over: bool) {
        let room = &self.batch.room;
        self.state.packed = self.engine.pack_room(room).unwrap_or_default();
        self.deadline = self.engine.next_deadline();
        self.batch.spending = (self.engine.spent(room) != spent_before || is_taken_over)
            .then(|| spending(&self.engine, room, self.state.last, &self.effects));
    }

    fn into_outcome(self) -> RoomOutcome {
        let RoomAttempt { engine, mut state, effects, mut batch, deadline, was_said, poison: _ } = self;
        let (mut wanted, mut updated) = (Vec::new(), Vec::new());
        for effect in effects {
            match effect.into_report() {
                Ok(DecisionReport::Final(trace) | DecisionReport::Received(trace)) => batch.decided.push(*trace),
                Ok(DecisionReport::Updated(trace)) => updated.push(*trace),
                Err(other) => wanted.push(other),
            }
        }
        batch.decided.retain(|trace| !is_repeat(trace));
        let new_decisions = batch.decided.len();
        batch.decided.append(&mut updated);
        state.records += batch.records.len() as u64;
        RoomOutcome { state, effects: wanted, batch: Arc::new(batch), new_decisions, engine, deadline, was_said }
    }
}

/// Whether this is the first that happens to a room of a single process: it goes on as that would after a start.
fn is_taken_over(before: &RoomState) -> bool {
    before.records == 0 && !before.packed.is_empty()
}

/// What the budget over all rooms has to know of a room.
fn spending(engine: &Engine, room: &RoomId, now: Time, effects: &[Effect]) -> RoomSpending {
    let spent = engine.spent(room);
    let days = spent.into_iter().flat_map(Spent::days).filter(|(_, cost)| !cost.is_zero()).collect();
    let in_flight = spent.into_iter().flat_map(Spent::reserved).map(|(serial, _)| serial).collect();
    let calls = effects.iter().filter_map(Effect::call);
    let wanted = calls.filter_map(|call| Some((call.serial, engine.reserved(call)?))).collect();
    RoomSpending { days, in_flight, wanted, budget: total_limit(engine.policies(), room, now) }
}

/// What all rooms may spend together today.
pub fn total_limit(policies: &Policies, room: &RoomId, now: Time) -> TotalLimit {
    let limit = policies.general().settings.budget.of_all_rooms();
    TotalLimit { today: policies.for_room(room.as_str()).zone.day(now), limit }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::effect::Usage;
    use aizuchi_core::input::Answer;
    use aizuchi_core::settings::Layers;
    use aizuchi_core::types::{Author, CallId, Message, MessageId, PersonId, Place, Visibility, Voice};

    use super::*;

    const START: Time = Time(1_775_563_200_000);

    fn policies(assignments: &[&str]) -> KnownPolicies {
        let mut layers = Layers::default();
        layers.suggest_for_replay();
        assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
        KnownPolicies::new(layers.resolve(&|_| None).expect("the settings of a test are right"))
    }

    fn said(number: u64, text: &str) -> Stamped {
        let at = START + Span::seconds(7 * number);
        let author = PersonId::new(format!("p{}", number % 3));
        let message = Message {
            id: MessageId::new(format!("m{number}")),
            place: Place::room("log:room"),
            at,
            author: Author { name: author.as_str().into(), id: author, voice: Voice::Person },
            text: text.into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        Stamped::new(at, Input::Said(message))
    }

    fn news(number: u64) -> RoomNews {
        let texts = ["does anyone know how long the oven takes?", "lol", "aizuchi, are you there?", "that is all"];
        RoomNews { told: vec![said(number, texts[number as usize % texts.len()])], ..RoomNews::default() }
    }

    #[test]
    fn every_attempt_comes_to_the_same_and_a_room_goes_on_as_one_engine_does() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let mut engine = Engine::new((*policies.policies).clone());
        let mut state = RoomState::default();
        for number in 0..60 {
            let before = RoomState::decode(&state.encode()).expect("a state can be read");
            let attempts = [0, 1].map(|_| decide(&room, &before, &policies, &news(number)).expect("it can be read"));
            let [first, second] = attempts;
            assert_eq!(first.state.encode(), second.state.encode());
            let mut effects = Vec::new();
            for Stamped { at, input, .. } in news(number).told {
                engine.handle(at, input, &mut effects);
            }
            let effects: Vec<Effect> = effects.into_iter().filter_map(|effect| effect.into_report().err()).collect();
            assert_eq!(first.effects, effects, "after {number} messages");
            state = first.state;
        }
        assert!(state.packed.len() < 10_000, "{} bytes", state.packed.len());
    }

    #[test]
    fn what_is_stamped_before_the_last_happens_with_it_and_other_settings_are_recorded_first() {
        let (room, old, new) = (RoomId::new("log:room"), policies(&[]), policies(&["bot.name=hana"]));
        assert_ne!(old.id, new.id);
        let first = decide(&room, &RoomState::default(), &old, &news(5)).expect("it can be read");
        let second = decide(&room, &first.state, &new, &news(3)).expect("it can be read");
        let kinds: Vec<bool> =
            second.batch.records.iter().map(|(_, input)| matches!(input, Input::PolicyChanged(_))).collect();
        assert_eq!(kinds, [true, false]);
        assert!(second.batch.records.iter().all(|(at, _)| *at == first.state.last), "{:?}", second.batch.records);
        assert_eq!((second.batch.after, second.state.records), (2, 4));
    }

    fn only(stamped: Stamped) -> RoomNews {
        RoomNews { told: vec![stamped], ..RoomNews::default() }
    }

    /// From a gateway, which handed it over at once.
    fn handed_over(at: Time, number: u64, text: &str) -> Stamped {
        Stamped { at, handed_over: Some(at), ..said(number, text) }
    }

    #[test]
    fn a_room_follows_a_clock_that_is_set_back_and_its_wait_is_as_long_as_before() {
        let (room, policies) = (RoomId::new("log:room"), policies(&["preset=myao2", "response.min_wait_seconds=30"]));
        let question = said(0, "does anyone know how long the oven takes?");
        let first = decide(&room, &RoomState::default(), &policies, &only(question)).expect("it can be read");
        let due = first.deadline.expect("it waits");
        let state = RoomState { armed: Some(due), ..first.state };
        let hour = Span::minutes(60);
        // Half a minute is how long something may take.
        let late = handed_over(state.last - Span::seconds(30), 1, "lol");
        let heard = decide(&room, &state, &policies, &only(late)).expect("it can be read");
        assert_eq!((heard.state.last, heard.state.armed), (state.last, Some(due)));
        assert_eq!(heard.batch.records.len(), 1);

        let at = state.last - hour + Span::seconds(5);
        let back = decide(&room, &state, &policies, &only(handed_over(at, 1, "lol"))).expect("it can be read");
        let [(set_at, Input::ClockSet(by)), (said_at, Input::Said(_))] = &back.batch.records[..] else {
            panic!("{:?}", back.batch.records)
        };
        assert_eq!((*set_at, *said_at, back.state.last, back.state.armed), (at, at, at, None));
        assert_eq!(*by, ClockShift::between(state.last, at));
        let again = back.deadline.expect("it still waits");
        assert!(again >= at && again.since(at) <= Span::minutes(2), "{again:?} after {at:?}");
        // What was handed over before the clock was set is only late.
        let before = Stamped { handed_over: Some(state.last), ..said(2, "ok") };
        let next = decide(&room, &back.state, &policies, &only(before)).expect("it can be read");
        assert!(next.batch.records.iter().all(|(_, input)| !matches!(input, Input::ClockSet(_))));
    }

    #[test]
    fn what_is_stored_is_heard_once_and_nothing_older_after_something_newer() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let numbered = |number: i64| Stamped { number: Some(number), ..said(number.cast_unsigned(), "lol") };
        let told = [5, 5, 7, 6].map(numbered).into();
        let first = decide(&room, &RoomState::default(), &policies, &RoomNews { told, ..RoomNews::default() });
        let first = first.expect("it can be read");
        let heard = |outcome: &RoomOutcome| -> Vec<String> {
            let records = outcome.batch.records.iter();
            records
                .filter_map(|(_, input)| match input {
                    Input::Said(message) => Some(message.id.as_str().to_owned()),
                    _ => None,
                })
                .collect()
        };
        assert_eq!(heard(&first), ["m5", "m7"]);
        let state = RoomState::decode(&first.state.encode()).expect("a state can be read");
        let told = [6, 7, 8].map(numbered).into();
        let second = decide(&room, &state, &policies, &RoomNews { told, ..RoomNews::default() });
        assert_eq!(heard(&second.expect("it can be read")), ["m8"]);
    }

    #[test]
    fn a_result_that_cannot_be_handled_is_not_waited_for_any_more() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let first = decide(&room, &RoomState::default(), &policies, &news(0)).expect("it can be read");
        let mut state = first.state;
        state.calls.insert(3, "inv_1".into());
        state.posts.insert(4);
        let of = |serial| CallId { room: room.clone(), serial };
        let answer = Answer { text: "yes".into(), usage: Usage::default() };
        let told = vec![
            Stamped::new(state.last, Input::Written(of(3), Ok(answer))),
            Stamped::new(state.last, Input::Delivered(of(4), Ok(Vec::new()))),
        ];
        let mut poison = Poison::default();
        for index in [0, 1] {
            poison
                .add(caught(Step::Hear(index), || panic!("odd")).expect_err("it panics"))
                .expect("it can be left out");
        }
        let news = RoomNews { told, ..RoomNews::default() };
        let after = attempt(&room, &state, &policies, &news, &poison).expect("it can be read").expect("nothing panics");
        assert_eq!(after.batch.set_aside.len(), 2);
        assert!(after.state.calls.is_empty() && after.state.posts.is_empty(), "{:?}", after.state);
    }

    /// A room that was taken over goes on as after a start, whatever reaches it first.
    #[test]
    fn what_cannot_be_parsed_is_set_aside_and_a_room_that_is_taken_over_goes_on() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let first = decide(&room, &RoomState::default(), &policies, &news(0)).expect("it can be read");
        let offered = RoomState { last: first.state.last, packed: first.state.packed, ..RoomState::default() };
        let unreadable = vec![("[{}]".to_owned(), "missing field".to_owned())];
        let told = vec![Stamped::new(Time(0), Input::Tick)];
        let after = decide(&room, &offered, &policies, &RoomNews { told, unreadable, forget: None });
        let after = after.expect("it can be read");
        assert!(after.batch.records.iter().any(|(_, input)| matches!(input, Input::Resumed)));
        assert!(after.batch.set_aside[0].input == "[{}]" && after.batch.set_aside[0].at == offered.last);
        assert!(after.state.records > 0 && !after.state.packed.is_empty());
    }

    #[test]
    fn what_cannot_be_parsed_takes_nothing_else_with_it() {
        let sound = serde_json::to_value(said(1, "lol")).expect("it can be written");
        let list = serde_json::json!([sound, {"at": 1, "input": "Sung"}, 7, sound]).to_string();
        let news = RoomNews::parse(list.as_bytes());
        assert_eq!((news.told.len(), news.unreadable.len()), (2, 2));
        assert!(news.unreadable[0].0.contains("Sung") && news.unreadable[0].1.contains("unknown variant"));
        for broken in ["[", "{}", "\u{fffd}"] {
            let news = RoomNews::parse(broken.as_bytes());
            assert!(news.told.is_empty() && news.unreadable[0].0 == broken, "{news:?}");
        }
        assert!(RoomNews::parse(b"[]").unreadable.is_empty());
    }

    /// A room in which nobody is known who spoke there, so that whatever looks for them panics.
    fn broken(state: &RoomState, policies: &KnownPolicies) -> RoomState {
        let engine = Engine::unpack_room((*policies.policies).clone(), &state.packed).expect("it can be read");
        let mut snapshot = serde_json::to_value(engine.snapshot()).expect("it can be written");
        snapshot["rooms"][0]["speakers"]["list"] = serde_json::json!([]);
        let snapshot = serde_json::from_value(snapshot).expect("it can be read");
        let mut engine = Engine::restore((*policies.policies).clone(), snapshot).expect("it can be read");
        let packed = engine.pack_room(&RoomId::new("log:room")).expect("it is known");
        RoomState { packed, ..state.clone() }
    }

    /// What is recorded leads to the same room.
    fn check_records(outcome: &RoomOutcome, before: &RoomState, policies: &KnownPolicies) {
        let mut engine =
            Engine::unpack_room((*policies.policies).clone(), &before.packed).expect("a state can be read");
        for (at, input) in outcome.batch.records.clone() {
            engine.handle(at, input, &mut Vec::new());
        }
        assert_eq!(engine.pack_room(&outcome.batch.room), Some(outcome.state.packed.clone()));
    }

    fn kinds(outcome: &RoomOutcome) -> Vec<&'static str> {
        let kind = |input: &Input| match input {
            Input::Said(_) => "said",
            Input::StartedOver(_) => "anew",
            Input::PolicyChanged(_) => "settings",
            Input::Tick => "tick",
            Input::ClockSet(_) => "clock",
            other => panic!("{other:?}"),
        };
        outcome.batch.records.iter().map(|(_, input)| kind(input)).collect()
    }

    #[test]
    fn where_what_is_due_panics_the_room_begins_anew_and_hears_what_comes() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let first = decide(&room, &RoomState::default(), &policies, &news(0)).expect("it can be read");
        let due = first.deadline.expect("what was said is dropped some day");
        let state = broken(&RoomState { armed: Some(due), ..first.state }, &policies);
        let late = Stamped { at: due + Span::seconds(1), ..said(1, "lol") };
        let told = vec![Stamped::new(due, Input::Tick), late];
        let after = decide(&room, &state, &policies, &RoomNews { told, ..RoomNews::default() }).expect("it goes on");
        assert_eq!(kinds(&after), ["anew", "tick", "said"]);
        assert_eq!(after.state.last, due + Span::seconds(1));
        let [set_aside] = &after.batch.set_aside[..] else { panic!("{:?}", after.batch.set_aside) };
        assert!(set_aside.at == due && set_aside.error.contains("panicked"), "{set_aside:?}");
        assert!(after.deadline.is_some_and(|next| next > due) && after.was_said);
        check_records(&after, &state, &policies);
        // Again in another process, the same is recorded.
        let again = RoomNews { told: vec![Stamped::new(due, Input::Tick)], ..RoomNews::default() };
        let [one, two] = [0, 1].map(|_| decide(&room, &state, &policies, &again).expect("it goes on"));
        assert_eq!(one.state.encode(), two.state.encode());
    }

    /// It cannot be told at first whose fault it is: that of an input, or of the room.
    #[test]
    fn a_room_in_which_one_input_after_the_other_panics_begins_anew() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let mut state = decide(&room, &RoomState::default(), &policies, &news(1)).expect("it can be read").state;
        let mut heard = Vec::new();
        let steps = [Some(Step::Hear(0)), Some(Step::Hear(0)), Some(Step::HearInDoubt(0)), None];
        for (number, panics) in (2..).zip(steps) {
            let mut poison = Poison::default();
            if let Some(step) = panics {
                poison.add(caught(step, || panic!("odd")).expect_err("it panics")).expect("something helps");
            }
            let after = attempt(&room, &state, &policies, &only(said(number, "lol")), &poison);
            let after = after.expect("it can be read").expect("nothing else panics");
            check_records(&after, &state, &policies);
            assert_eq!(after.batch.set_aside.len(), usize::from(panics.is_some()));
            heard.push(kinds(&after));
            state = RoomState::decode(&after.state.encode()).expect("a state can be read");
        }
        assert_eq!(heard, [vec!["tick"], vec!["tick"], vec!["anew", "said"], vec!["said"]]);
        assert_eq!(state.left_out, 0);
    }

    #[test]
    fn other_settings_and_a_clock_that_is_set_stop_no_room_in_which_they_panic() {
        let (room, old, new) = (RoomId::new("log:room"), policies(&[]), policies(&["bot.name=hana"]));
        let first = decide(&room, &RoomState::default(), &old, &news(0)).expect("it can be read");
        let due = first.deadline.expect("what was said is dropped some day");
        let state = broken(&first.state, &old);
        let late = Stamped { at: due, ..said(1, "lol") };
        let after = decide(&room, &state, &new, &only(late)).expect("it goes on");
        assert_eq!(kinds(&after), ["anew", "settings", "said"]);
        assert_eq!((after.state.policies, after.batch.set_aside.len()), (Some(new.id), 1));
        check_records(&after, &state, &old);
    }

    /// Whatever is left of the room, nobody who is to be forgotten is in it.
    #[test]
    fn somebody_is_forgotten_where_that_panics() {
        let (room, policies) = (RoomId::new("log:room"), policies(&[]));
        let first = decide(&room, &RoomState::default(), &policies, &news(1)).expect("it can be read");
        let state = broken(&first.state, &policies);
        let request = ForgetRequest { ids: vec![PersonId::new("p1")], rooms: vec![room.clone()], ..Default::default() };
        let news = RoomNews { forget: Some(request), ..only(Stamped::new(state.last, Input::Forgotten)) };
        let after = decide(&room, &state, &policies, &news).expect("it goes on");
        let left = serde_json::to_string(&after.engine.snapshot()).expect("it can be written");
        assert!(!left.contains("lol") && after.batch.set_aside.len() == 1, "{left}");
    }

    /// Somebody is forgotten in the instant in which something about somebody else is decided.
    #[test]
    fn a_decision_that_falls_due_when_somebody_is_forgotten_is_kept() {
        let settings = ["preset=myao2", "response.min_wait_seconds=30", "budget.calls_per_day=1"];
        let (room, policies) = (RoomId::new("log:room"), policies(&settings));
        let question = said(0, "does anyone know how long the oven takes?");
        let first = decide(&room, &RoomState::default(), &policies, &only(question)).expect("it can be read");
        let due = first.deadline.expect("it waits");
        // When the wait is over, nothing may be spent any more.
        let usage = Usage { calls: 1, ..Usage::default() };
        let bill = only(Stamped::new(first.state.last, Input::Billed(room.clone(), usage)));
        let state = decide(&room, &first.state, &policies, &bill).expect("it can be read").state;
        let tick = decide(&room, &state, &policies, &only(Stamped::new(due, Input::Tick))).expect("it can be read");
        assert_eq!(tick.batch.decided.len(), 1, "the gate is closed");
        let request = ForgetRequest { ids: vec![PersonId::new("nobody")], ..ForgetRequest::default() };
        let news = RoomNews { forget: Some(request), ..only(Stamped::new(due, Input::Forgotten)) };
        let forgot = decide(&room, &state, &policies, &news).expect("it can be read");
        assert_eq!(forgot.batch.decided, tick.batch.decided);
    }
}
