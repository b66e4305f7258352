//! Somebody speaks while something is pending: what is answered or void is called off.

use super::end;
use super::turn::Turn;
use crate::listen::speaks_to;
use crate::phrases::is_filler;
use crate::room::Phase;
use crate::trace::{Cause, Trace};
use crate::types::{Message, Time};

/// Somebody spoke to the room. Returns since when something has been waiting, so that a busy room is judged too.
pub(super) fn interrupt(turn: &mut Turn<'_>, message: &Message, trace: &Trace) -> Option<Time> {
    answer_by_name(turn, message);
    disturb(turn, message, trace)
}

/// A person who is spoken to by name has an answer, in whatever conversation that seems to be.
fn answer_by_name(turn: &mut Turn<'_>, message: &Message) {
    if !turn.policy.settings.response.bursts {
        return;
    }
    let told = |pending: &Trace| {
        pending.author_id != message.author.id
            && speaks_to(message, &pending.author_id, &pending.author, pending.message.as_str())
    };
    while let Some(index) = turn.place().pending.iter().position(|pending| told(&pending.trace)) {
        let pending = turn.place_mut().remove_pending(index);
        end::end(turn, pending, &Cause::AnsweredBy(message.id.clone()));
    }
}

/// Somebody speaks: what was pending is void, unless the settings let it wait through bursts and this message is no answer
/// to it. Returns since when something has been waiting, so that a busy room is judged too.
fn disturb(turn: &mut Turn<'_>, message: &Message, trace: &Trace) -> Option<Time> {
    let pending = turn.pending()?;
    let waiting_since = matches!(pending.phase, Phase::Waiting { .. }).then_some(pending.since);
    if !turn.policy.settings.response.bursts {
        end::call_off(turn, &Cause::CancelledBy(message.id.clone()));
        return waiting_since;
    }
    if trace.reply_to_guess.as_ref() == Some(&pending.trace.message)
        && pending.trace.author_id != message.author.id
        && !is_filler(&message.text)
    {
        end::call_off(turn, &Cause::AnsweredBy(message.id.clone()));
        return None;
    }
    waiting_since
}
