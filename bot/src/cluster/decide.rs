//! What a room makes of what it is told: pure, so that every attempt of an invocation comes to the same.

use std::panic::{AssertUnwindSafe, catch_unwind};

use aizuchi_core::effect::{DecisionReport, Effect};
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::room::Spent;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Engine, Input, Policies, Time, Trace};

use super::context::KnownPolicies;
use super::state::{RoomState, Stamped};
use crate::journal::traces::is_repeat;
use crate::language::Language;
use crate::ports::{RoomBatch, RoomSpending, SetAside, TotalLimit};
use crate::runtime::panic_message;

/// What came of it.
pub struct RoomOutcome {
    pub state: RoomState,
    /// What is to be done, in its order: no decisions.
    pub effects: Vec<Effect>,
    /// What is to be recorded.
    pub batch: RoomBatch,
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

/// `Err` if the state cannot be read: then nobody can go on with this room until a newer program does.
pub fn decide(
    room: &RoomId,
    before: &RoomState,
    policies: &KnownPolicies,
    news: &RoomNews,
) -> Result<RoomOutcome, String> {
    let mut poison: Vec<(usize, String)> = Vec::new();
    // What an input that panics left behind is not to be trusted: it begins anew without that one.
    loop {
        match attempt(room, before, policies, news, &poison)? {
            Ok(outcome) => return Ok(outcome),
            Err(panicked) => poison.push(panicked),
        }
    }
}

/// What a room is told.
#[derive(Debug, Default)]
pub struct RoomNews {
    pub told: Vec<Stamped>,
    /// Who is to be forgotten after that.
    pub forget: Option<ForgetRequest>,
}

type AttemptResult = Result<RoomOutcome, (usize, String)>;

fn attempt(
    room: &RoomId,
    before: &RoomState,
    policies: &KnownPolicies,
    RoomNews { told, forget }: &RoomNews,
    poison: &[(usize, String)],
) -> Result<AttemptResult, String> {
    let known = (*policies.policies).clone();
    let mut engine = match &before.packed[..] {
        [] => Engine::new(known),
        packed => Engine::unpack_room(known, packed)?,
    };
    let spent_before = engine.spent(room).cloned();
    let mut state = before.clone();
    let mut effects = Vec::new();
    let mut batch = RoomBatch { policies: Some(policies.id), ..RoomBatch::new(room.clone(), before.records) };
    let mut was_said = false;
    if state.policies != Some(policies.id) {
        state.last = told.first().map_or(state.last, |first| first.at.max(state.last));
        let (at, input) = (state.last, Input::PolicyChanged(Box::new(policies.stated.clone())));
        batch.records.push((at, input.clone()));
        engine.handle(at, input, &mut effects);
        state.policies = Some(policies.id);
    }
    if is_taken_over(before) {
        batch.records.push((state.last, Input::Resumed));
        engine.handle(state.last, Input::Resumed, &mut effects);
    }
    for (index, Stamped { at, input }) in told.iter().enumerate() {
        let at = (*at).max(state.last);
        if let Some((_, error)) = poison.iter().find(|(poisoned, _)| *poisoned == index) {
            let input = serde_json::to_string(input).unwrap_or_default();
            batch.set_aside.push(SetAside { room: room.clone(), at, input, error: error.clone() });
            continue;
        }
        state.last = at;
        if let Some(call) = input.call() {
            state.calls.remove(&call.serial);
            state.posts.remove(&call.serial);
        }
        if let Input::Said(message) = input {
            was_said = true;
            state.language = Some(Language::of_text(&message.text).id().to_owned());
        }
        batch.records.push((at, input.clone()));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| engine.handle(at, input.clone(), &mut effects))) {
            return Ok(Err((index, panic_message(&*panic))));
        }
    }
    if let Some(request) = forget {
        engine.forget(state.last, &request.recognizer(), &mut effects);
        // Decisions that this ends are about what is forgotten, or made again.
        effects = effects.into_iter().filter_map(|effect| effect.into_report().err()).collect();
    }
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
    if engine.spent(room) != spent_before.as_ref() || is_taken_over(before) {
        batch.spending = Some(spending(&engine, room, state.last, &wanted));
    }
    state.records += batch.records.len() as u64;
    state.packed = engine.pack_room(room).unwrap_or_default();
    let deadline = engine.next_deadline();
    Ok(Ok(RoomOutcome { state, effects: wanted, batch, new_decisions, engine, deadline, was_said }))
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
    use aizuchi_core::settings::Layers;
    use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Span, Visibility, Voice};

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
        Stamped { at, input: Input::Said(message) }
    }

    fn news(number: u64) -> RoomNews {
        let texts = ["does anyone know how long the oven takes?", "lol", "aizuchi, are you there?", "that is all"];
        RoomNews { told: vec![said(number, texts[number as usize % texts.len()])], forget: None }
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
            for Stamped { at, input } in news(number).told {
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
}
