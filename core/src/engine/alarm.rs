//! When the timers check a place again.

use super::timers::Key;
use super::turn::Turn;
use crate::room::Pending;
use crate::types::{Span, Time};

/// Arms the timers for when something is due here, or when the talk is old enough to be dropped.
pub(super) fn set_alarm(turn: &mut Turn<'_>) {
    let life = turn.policy.buffer_life();
    let digest = turn.room.next_digest(turn.policy).filter(|_| turn.thread.is_none()).map(|(due, _)| due);
    let (passes, reminder) = (tracked_until(turn), turn.room.next_reminder(turn.now).filter(|_| turn.thread.is_none()));
    let key = Key { room_index: turn.room_index, thread: turn.thread.clone() };
    let place = turn.room.place_mut(turn.thread.as_ref()).expect("a turn is taken in a known place");
    let expires = life.and_then(|life| place.buffer.latest().map(|latest| latest + life));
    let departure = place.bot.as_ref().and_then(|bot| bot.next_departure());
    let awaiting = place.bot.iter().flat_map(|bot| &bot.awaiting);
    let approvals = awaiting.filter_map(|pending| pending.approval()).map(|approval| approval.until);
    let due = place.pending.iter().filter_map(Pending::due).chain(departure).chain(approvals);
    if let Some(earliest) = due.chain(expires).chain(digest).chain(passes).chain(reminder).min() {
        turn.timers.arm(&mut place.alarm, earliest, || key);
    }
}

/// When the first contribution is no longer tracked.
pub(super) fn tracked_until(turn: &Turn<'_>) -> Option<Time> {
    let bot = turn.place().bot.as_ref()?;
    bot.tracked.first().map(|tracked| tracked.at + tracking_span(turn))
}

fn tracking_span(turn: &Turn<'_>) -> Span {
    Span::minutes(turn.policy.settings.effect.follow_minutes.into())
}
