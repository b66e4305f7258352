//! The timers check a place: what is due, what expires, what may be forgotten.

use super::turn::Turn;
use super::{alarm, answer, ask, digest, gate, initiative, outbox, reception, remind, tools, write};
use crate::room::Phase;
use crate::trace::Stage;
use crate::types::{ConversationId, Time};

/// The timers check this place: something may be due, and old talk may be dropped.
pub(super) fn check_deadlines(turn: &mut Turn<'_>) {
    let at = turn.now;
    if turn.place().alarm != Some(at) {
        return;
    }
    turn.place_mut().alarm = None;
    if let Some(life) = turn.policy.buffer_life() {
        let (place, speakers) = turn.room.split(turn.thread.as_ref());
        place.buffer.expire(at, life, |speaker| speakers.release(speaker));
    }
    reception::let_pass(turn);
    if turn.place().bot.as_ref().is_some_and(|bot| !bot.outbox.is_empty()) {
        outbox::release(turn);
        answer::write_next(turn);
    }
    if tools::expire(turn) {
        answer::write_next(turn);
    }
    while let Some((conversation, waited)) = first_due(turn, at) {
        turn.conversation = conversation;
        if waited { wait_is_over(turn) } else { write::write_pending(turn) }
    }
    turn.conversation = None;
    if turn.thread.is_none() {
        remind::fire(turn);
        digest::digest(turn);
    }
    alarm::set_alarm(turn);
}

/// The conversation in which something is due, the longest overdue first, and whether it waited for quiet.
fn first_due(turn: &Turn<'_>, now: Time) -> Option<(Option<ConversationId>, bool)> {
    let due = turn.place().pending.iter().filter(|pending| pending.due().is_some_and(|due| due <= now));
    let first = due.min_by_key(|pending| pending.due())?;
    Some((first.conversation, matches!(first.phase, Phase::Waiting { .. })))
}

/// The quiet period is over. What was decided before is checked again.
fn wait_is_over(turn: &mut Turn<'_>) {
    if initiative::found_nothing(turn) {
        return;
    }
    let pending = turn.pending().expect("a wait is over where something waits");
    if let Some(closed) = gate::closed_for(turn, pending, pending.ask) {
        let pending = turn.take_pending().expect("it is still pending");
        return turn.hold_back(pending.trace, Stage::Gate, closed);
    }
    ask::judge(turn);
}
