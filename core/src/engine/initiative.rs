//! Speaking first: when a silent channel wakes, something it remembers may be worth telling, if it is about what woke it.

use super::turn::Turn;
use super::{alarm, gate, pay, wait};
use crate::effect::{Effect, Recall};
use crate::gates::{Order, Trigger, closed_in};
use crate::memory::FactId;
use crate::room::{FirstWords, Pending, Phase};
use crate::trace::{Cause, Stage, Trace};
use crate::types::{CallId, Message, Span, Time, Visibility, Voice};
use crate::usage::tokens_of_bytes;

/// Whether this message wakes a channel in which it may speak first. The same gates hold as for any other contribution.
pub(super) fn may_speak_first(turn: &Turn<'_>, message: &Message, trigger: Trigger<'_>) -> bool {
    let memory = &turn.policy.settings.memory;
    let wanted = memory.enabled && memory.proactive && turn.policy.asks_a_model();
    let woke = turn.thread.is_none() && message.author.voice == Voice::Person && was_silent_before(turn, message);
    wanted
        && woke
        && message.visibility != Visibility::Direct
        && turn.place().pending.is_empty()
        && closed_in(&gate::case(turn, Trigger { paid: true, ..trigger }), Order::AfterScore).is_none()
}

fn was_silent_before(turn: &Turn<'_>, message: &Message) -> bool {
    let before = turn.place().heard_before;
    let silence = Span::minutes(turn.policy.settings.memory.proactive_silence_minutes.into());
    before != Time(0) && message.at.since(before) >= silence
}

/// Looks for something to tell while it waits for quiet, as it would with any other reason.
pub(super) fn speak_first(turn: &mut Turn<'_>, message: &Message, mut trace: Box<Trace>, otherwise: Cause) {
    let call = turn.room.next_call();
    if pay::reserve_look_up(turn, &call, tokens_of_bytes(message.text.len())).is_err() {
        return turn.stay_silent(trace, Stage::Score, otherwise);
    }
    trace.cause = Cause::Undecided;
    let recall = Recall { call: call.clone(), at: turn.now, place: turn.place_id(), message: message.id.clone() };
    let telling = FirstWords::Sought { call: call.serial, otherwise };
    let due = wait::due_after(turn, wait::wait_after(turn, &trace.message), turn.now).max(turn.now + Span(1));
    let mut pending = wait::reason_to_wait(turn, message, trace, true, turn.now, due);
    pending.telling = Some(telling);
    turn.place_mut().pending.push(pending);
    alarm::set_alarm(turn);
    turn.out.push(Effect::Recall(Box::new(recall)));
}

pub(super) fn handle_recalled(turn: &mut Turn<'_>, call: &CallId, found: Option<FactId>) {
    let Some(index) = turn.place().pending.iter().position(|pending| pending.seeks(call)) else { return };
    match found {
        Some(fact) => turn.place_mut().pending[index].telling = Some(FirstWords::Found(fact)),
        None => {
            let pending = turn.place_mut().pending.remove(index);
            nothing_to_tell(turn, pending);
        }
    }
}

/// Quiet has come and nothing was found: silent for the reason it had before.
pub(super) fn found_nothing(turn: &mut Turn<'_>) -> bool {
    if !turn.pending().is_some_and(|pending| matches!(pending.telling, Some(FirstWords::Sought { .. }))) {
        return false;
    }
    let pending = turn.take_pending().expect("it is still pending");
    nothing_to_tell(turn, pending);
    true
}

fn nothing_to_tell(turn: &mut Turn<'_>, pending: Pending) {
    debug_assert!(matches!(pending.phase, Phase::Waiting { .. }));
    let Some(FirstWords::Sought { otherwise, .. }) = pending.telling else { return };
    turn.stay_silent(pending.trace, Stage::Score, otherwise);
}
