//! Ends without a post: called off, withheld at the last moment, or without words.

use super::turn::Turn;
use super::{outbox, pay};
use crate::effect::Effect;
use crate::room::{Pending, Phase};
use crate::trace::{Cause, Closed, QuestionTrace, RestStopped, Stage};

/// The room is muted: whatever may still be said here is called off.
pub(super) fn call_off_as_muted(turn: &mut Turn<'_>) {
    outbox::stop(turn, &RestStopped::Muted);
    for mut pending in turn.place_mut().take_slots() {
        abandon(turn, &mut pending);
        withhold(turn, *pending, ("mute", Closed::default()));
    }
}

/// The writer returned no words, or none worth posting.
pub(super) fn end_silent(turn: &mut Turn<'_>, pending: Pending, cause: &Cause) {
    for trace in pending.traces() {
        turn.stay_silent(Box::new(trace), Stage::Post, cause.clone());
    }
}

/// A gate has closed since the decision.
pub(super) fn withhold(turn: &mut Turn<'_>, pending: Pending, closed: (&'static str, Closed)) {
    for trace in pending.traces() {
        turn.hold_back(Box::new(trace), Stage::Post, closed);
    }
}

/// Calls off what the bot might have said unasked.
pub(super) fn call_off(turn: &mut Turn<'_>, cause: &Cause) {
    if let Some(pending) = turn.take_pending() {
        end(turn, pending, cause);
    }
}

/// Ends this, and everything that was to be answered together with it.
pub(super) fn end(turn: &mut Turn<'_>, mut pending: Pending, cause: &Cause) {
    abandon(turn, &mut pending);
    let stage = pending.stage();
    for trace in pending.traces() {
        turn.stay_silent(Box::new(trace), stage, cause.clone());
    }
}

/// A call in flight is no longer wanted. Its cost is unknown, so its reservation counts as spent.
pub(super) fn abandon(turn: &mut Turn<'_>, pending: &mut Pending) {
    let Some(call) = pending.call().cloned() else { return };
    if let Phase::Writing { asked_at, .. } = pending.phase {
        pending.interrupt_tool(turn.now.since(asked_at));
    }
    if let Phase::Judging { asked_at, prompt_chars, ladder, .. } = pending.phase {
        let (question, answer) = (ladder.question, "aborted".into());
        pending.trace.asked.push(QuestionTrace {
            question,
            at: asked_at,
            prompt_chars,
            answer,
            cached: false,
            failed: true,
        });
    }
    pay::settle(turn, &call, None);
    turn.out.push(Effect::Abort(call));
}
