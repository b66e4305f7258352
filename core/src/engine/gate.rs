//! Runs the gates for a message or for what is pending.

use super::turn::Turn;
use crate::gates::{Closed, GateContext, Trigger, closed};
use crate::room::Pending;
use crate::types::{Addressed, Message, Voice};

pub(super) fn trigger<'b>(
    turn: &Turn<'_>,
    message: &'b Message,
    addressed: bool,
    for_somebody_else: bool,
) -> Trigger<'b> {
    Trigger {
        id: message.id.as_str(),
        author: turn.room.speakers.key(&message.author.id),
        by_bot: message.author.voice == Voice::Bot,
        addressed,
        for_somebody_else,
        its_turn: false,
        paid: false,
        admitted: false,
    }
}

/// The first closed gate for what is pending here, at this instant.
pub(super) fn closed_for(turn: &Turn<'_>, pending: &Pending, paid: bool) -> Option<(&'static str, Closed)> {
    closed(&case(turn, trigger_of(turn, pending, paid)))
}

fn trigger_of<'b>(turn: &Turn<'_>, pending: &'b Pending, paid: bool) -> Trigger<'b> {
    Trigger {
        id: pending.trace.message.as_str(),
        author: turn.room.speakers.key(&pending.trace.author_id),
        by_bot: pending.by_bot,
        addressed: pending.addressed.is_some(),
        for_somebody_else: false,
        its_turn: pending.trace.its_turn || pending.addressed == Some(Addressed::Turn),
        paid,
        admitted: true,
    }
}

pub(super) fn case<'b>(turn: &'b Turn<'_>, trigger: Trigger<'b>) -> GateContext<'b> {
    let conversation = turn.conversation;
    GateContext { now: turn.now, policy: turn.policy, room: turn.room, place: turn.place(), conversation, trigger }
}
