//! Results from outside: words, acknowledgements and refusals. Answers of a judge are handled in `ask`.

use super::pay::micros_of;
use super::turn::Turn;
use super::{answer, deliver, digest, end, exchange, gate, initiative, pay, tools, write};
use crate::effect::{Excuse, Failure};
use crate::input::{Answer, TotalSpent};
use crate::reply::without_controls;
use crate::room::Phase;
use crate::tools::{ToolCall, ToolOutput};
use crate::trace::{Closed, Stage};
use crate::types::{Addressed, CallId, MessageId, Reaction};
use crate::usage::Usage;

/// The words have arrived, or are not available; then the people who addressed the bot meanwhile are next.
pub(super) fn handle_written(turn: &mut Turn<'_>, call: &CallId, draft: Result<Answer, Failure>) {
    pay::settle_answer(turn, call, &draft);
    let Some(mut pending) = write::take_writing(turn, call) else { return };
    let owed = pending.addressed.is_some();
    pending.trace.micros += micros_of(&draft);
    match draft {
        Err(failure) => write::fail(turn, pending, &failure.what),
        Ok(answer) => write::say(turn, pending, &without_controls(&answer.text)),
    }
    if owed {
        answer_others(turn);
    }
}

/// The writer wants tools first.
pub(super) fn handle_tool_calls(turn: &mut Turn<'_>, call: &CallId, calls: Vec<ToolCall>, usage: &Usage) {
    tools::handle_tool_calls(turn, call, calls, usage);
    answer_others(turn);
}

pub(super) fn handle_tool_result(turn: &mut Turn<'_>, call: &CallId, result: Result<ToolOutput, Failure>) {
    tools::handle_tool_result(turn, call, result);
    answer_others(turn);
}

/// Somebody may have said whether a tool may run.
pub(super) fn handle_reaction(turn: &mut Turn<'_>, reaction: &Reaction) {
    if tools::note_reaction(turn, reaction) {
        answer_others(turn);
    }
}

/// Now the people who addressed the bot meanwhile are answered.
fn answer_others(turn: &mut Turn<'_>) {
    answer::write_next(turn);
    exchange::drop_settled(turn);
}

/// A post was sent, or failed. A person who addressed the bot while an answer in several posts was sent is answered after
/// the last.
pub(super) fn handle_delivered(turn: &mut Turn<'_>, call: &CallId, ids: Result<Vec<MessageId>, Failure>) {
    if tools::handle_asked(turn, call, &ids) {
        return answer_others(turn);
    }
    let was_mid_answer = turn.place().bot.as_ref().is_some_and(|bot| bot.is_mid_answer());
    deliver::handle_delivered(turn, call, ids);
    if was_mid_answer {
        answer_others(turn);
    }
}

/// The call was not made, because the budget over all rooms is spent.
pub(super) fn handle_refused(turn: &mut Turn<'_>, call: &CallId, why: TotalSpent) {
    if let Some(spent) = &mut turn.room.spent {
        spent.refuse(turn.policy, turn.now, call.serial, why);
    }
    let closed = Closed { have: why.have, need: why.limit };
    if refused_to_judge(turn, call, closed) {
        return;
    }
    if let Some(pending) = write::take_writing(turn, call) {
        let owed = pending.addressed.is_some();
        match gate::closed_for(turn, &pending, false) {
            Some(closed) => end::withhold(turn, pending, closed),
            None if owed && pending.addressed != Some(Addressed::Turn) => {
                deliver::excuse(turn, pending, Excuse::BudgetSpent, "the budget of the day is spent")
            }
            None => end::withhold(turn, pending, ("budget", closed)),
        }
        if owed {
            answer_others(turn);
        }
        return;
    }
    let now = turn.now;
    if turn.room.digest.as_mut().is_some_and(|digest| digest.end(call.serial, now, false)) {
        return digest::digest(turn);
    }
    initiative::handle_recalled(turn, call, None);
}

fn refused_to_judge(turn: &mut Turn<'_>, call: &CallId, closed: Closed) -> bool {
    let judges = |phase: &Phase| matches!(phase, Phase::Judging { call: current, .. } if current == call);
    let place = turn.place_mut();
    let Some(index) = place.pending.iter().position(|pending| judges(&pending.phase)) else { return false };
    let pending = place.remove_pending(index);
    turn.conversation = pending.conversation;
    if let Some((talk, _)) = turn.room.talk_mut(turn.policy) {
        talk.note_not_asked();
    }
    turn.hold_back(pending.trace, Stage::Gate, ("budget", closed));
    true
}
