//! Long-term memory: when enough talk has accumulated, a summary or a reflection is requested. The result is stored
//! elsewhere; the engine only knows how much is new.

use super::pay::{self, Estimate};
use super::timers::Key;
use super::turn::Turn;
use crate::effect::{Digesting, Effect, Failure, Remember, Usage};
use crate::room::Cost;
use crate::types::CallId;

/// The approximate number of tokens of a message, for reserving money before it is read.
const TOKENS_OF_A_MESSAGE: u64 = 40;
/// How many messages a model reads at once, and the maximum number of calls for one request.
const MESSAGES_OF_A_CALL: u32 = 200;
const CALLS_MAX: u32 = 8;

/// Somebody spoke: one more message for long-term memory.
pub(super) fn note_for_memory(turn: &mut Turn<'_>) {
    let memory = &turn.policy.settings.memory;
    if !memory.enabled || !(memory.channel_context || memory.reflection) {
        return;
    }
    turn.room.digest.get_or_insert_default().hear(turn.now);
    digest(turn);
}

/// Starts what is due and arms the timer for what will be.
pub(super) fn digest(turn: &mut Turn<'_>) {
    while let Some((_, what)) = turn.room.next_digest(turn.policy).filter(|(due, _)| *due <= turn.now) {
        begin_digest(turn, what);
    }
    if let Some((due, _)) = turn.room.next_digest(turn.policy) {
        let key = Key { room_index: turn.room_index, thread: None };
        let main = turn.room.place_mut(None).expect("every room has a main place");
        turn.timers.arm(&mut main.alarm, due, || key);
    }
}

fn begin_digest(turn: &mut Turn<'_>, what: Digesting) {
    let settings = &turn.policy.settings;
    let (model, tokens_max) = match what {
        Digesting::Summary => (turn.policy.summary_model(), settings.memory.summary_tokens),
        Digesting::Reflection => (turn.policy.reflection_model(), settings.memory.reflection_tokens),
    };
    let call = turn.room.next_call();
    let new = turn.room.digest.as_ref().map_or(0, |digest| digest.new_for(what));
    let calls = reserve_digest(turn, &call, model, new, tokens_max);
    let digest = turn.room.digest.get_or_insert_default();
    let Some(calls_max) = calls else { return digest.put_off(what, turn.now) };
    digest.begin(what, call.serial);
    let remember = Remember { call, at: turn.now, what, model: model.into(), tokens_max, new, calls_max };
    turn.out.push(Effect::Remember(Box::new(remember)));
}

/// Reserves money for everything that is new, or else for as much as one call processes; the rest is left for the next
/// time. Returns how many calls it may take, if any.
fn reserve_digest(turn: &mut Turn<'_>, call: &CallId, model: &str, new: u32, tokens_max: u32) -> Option<u32> {
    let budget = &turn.policy.settings.budget;
    let unlimited = budget.of_room().is_zero() && budget.of_all_rooms().is_zero();
    let parts = (new / MESSAGES_OF_A_CALL + 1).min(CALLS_MAX);
    let estimate = |calls: u32| {
        let messages = u64::from(new.min(calls * MESSAGES_OF_A_CALL));
        let tokens_in = messages * TOKENS_OF_A_MESSAGE;
        Estimate { model, calls: calls.into(), tokens_in, tokens_max, looked_up: None }
    };
    let calls = [parts, 1].into_iter().find(|calls| pay::reserve(turn, call, estimate(*calls)).is_ok())?;
    Some(if unlimited { CALLS_MAX } else { calls })
}

pub(super) fn handle_remembered(turn: &mut Turn<'_>, call: &CallId, done: Result<Usage, Failure>) {
    let bill = match &done {
        Ok(usage) => Some(Cost::from(usage)),
        Err(failure) => failure.usage.as_ref().map(Cost::from),
    };
    pay::settle(turn, call, bill);
    let now = turn.now;
    if turn.room.digest.as_mut().is_some_and(|digest| digest.end(call.serial, now, done.is_ok())) {
        digest(turn);
    }
}

/// After a restart no call is in flight any more.
pub(super) fn resume_digest(turn: &mut Turn<'_>) {
    if let Some(digest) = &mut turn.room.digest {
        digest.resume();
    }
    digest(turn);
}
