//! Waiting for quiet: what is taken up, how long it waits, and what replaces it.

use super::turn::Turn;
use super::{alarm, ask, end};
use crate::reply::kind_for;
use crate::room::{Pending, Phase};
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Kind, Message, MessageId, Span, Time, Voice, stable_hash};

/// How many pauses between messages determine the pace of a room; an odd number, so that there is a median.
const PAUSES: u32 = 9;

/// A message of little weight: what waits here waits a little longer.
pub(super) fn postpone(turn: &mut Turn<'_>) {
    let Some(pending) = turn.pending() else { return };
    let due = due_after(turn, wait_after(turn, &pending.trace.message), pending.since);
    let pending = turn.pending_mut().expect("it is still pending");
    match &mut pending.phase {
        Phase::Waiting { due: waits } | Phase::Holding { due: waits } => *waits = due.max(*waits),
        Phase::Judging { .. } | Phase::Writing { .. } => return,
    }
    alarm::set_alarm(turn);
}

/// A message worth acting on. In a burst, the best reason is kept.
pub(super) fn take_up(turn: &mut Turn<'_>, message: &Message, trace: Box<Trace>, ask: bool, since: Option<Time>) {
    match turn.take_pending() {
        Some(mut pending) => {
            end::abandon(turn, &mut pending);
            let stage = pending.stage();
            if trace.reason() > pending.trace.reason() {
                turn.stay_silent(pending.trace, stage, Cause::SupersededBy(trace.message.clone()));
                begin_wait(turn, message, trace, ask, since);
            } else {
                turn.stay_silent(trace, Stage::Judge, Cause::PartOf(pending.trace.message.clone()));
                pending.since = since.unwrap_or(turn.now);
                let due = due_after(turn, wait_after(turn, &pending.trace.message), pending.since);
                pending.phase = Phase::Waiting { due };
                turn.place_mut().add_pending(pending);
                alarm::set_alarm(turn);
            }
        }
        None => begin_wait(turn, message, trace, ask, since),
    }
}

fn begin_wait(turn: &mut Turn<'_>, message: &Message, trace: Box<Trace>, ask: bool, since: Option<Time>) {
    let since = since.unwrap_or(turn.now);
    let due = due_after(turn, wait_after(turn, &trace.message), since);
    let pending = reason_to_wait(turn, message, trace, ask, since, due);
    make_room(turn, &pending);
    turn.place_mut().add_pending(pending);
    if due <= turn.now { ask::judge(turn) } else { alarm::set_alarm(turn) }
}

pub(super) fn reason_to_wait(
    turn: &Turn<'_>,
    message: &Message,
    trace: Box<Trace>,
    ask: bool,
    since: Time,
    due: Time,
) -> Pending {
    let engaged = turn.place().is_engaged(turn.policy, trace.at);
    let kind = match (&trace.cause, trace.p_join) {
        (Cause::Thanked, _) => Kind::Reaction,
        (_, Some(_)) => Kind::Full,
        (_, None) => kind_for(turn.policy, trace.score, engaged),
    };
    Pending {
        by_bot: message.author.voice == Voice::Bot,
        conversation: turn.conversation,
        ask,
        ..Pending::new(trace, kind, since, Phase::Waiting { due })
    }
}

/// Limits how many conversations wait at a time: the one with the weakest reason is dropped.
fn make_room(turn: &mut Turn<'_>, newcomer: &Pending) {
    let most = turn.policy.settings.response.conversations_max as usize;
    while turn.place().pending.len() >= most {
        let reasons = turn.place().pending.iter().enumerate();
        let least = reasons.min_by(|(_, a), (_, b)| a.trace.reason().total_cmp(&b.trace.reason()));
        let (index, _) = least.expect("at least one is allowed");
        let pending = turn.place_mut().remove_pending(index);
        end::end(turn, pending, &Cause::SupersededBy(newcomer.trace.message.clone()));
    }
}

/// The quiet that must follow this message.
pub(super) fn wait_after(turn: &Turn<'_>, message: &MessageId) -> Span {
    let response = &turn.policy.settings.response;
    let shortest = Span::seconds(response.min_wait_seconds.into());
    let ratio = response.jitter_ratio.clamp(0.0, 1.0);
    let drawn = stable_hash(turn.policy.settings.bot.seed, message.as_str());
    if !response.adaptive {
        let seconds = jittered(response.min_wait_seconds.into(), ratio, drawn);
        return Span::seconds(seconds);
    }
    let longest = Span::seconds(response.adaptive_max_seconds.into()).max(shortest);
    let paced = usual_pause(turn).map_or(shortest, |pause| Span((pause.0 as f64 * response.pace) as u64));
    Span(jittered(paced.clamp(shortest, longest).0, ratio, drawn))
}

/// The median of the latest pauses, which a burst or a long silence does not change.
fn usual_pause(turn: &Turn<'_>) -> Option<Span> {
    let latest = turn.place().newest(turn.policy, turn.now, PAUSES + 1);
    let mut pauses: Vec<Span> = latest.windows(2).map(|pair| pair[0].at.since(pair[1].at)).collect();
    pauses.sort_unstable();
    pauses.get(pauses.len() / 2).copied()
}

/// When the wait that began at `since` ends, if `wait` more is wanted now.
pub(super) fn due_after(turn: &Turn<'_>, wait: Span, since: Time) -> Time {
    let longest = turn.policy.settings.response.max_wait_seconds;
    let due = turn.now + wait;
    if longest == 0 { due } else { due.min((since + Span::seconds(longest.into())).max(turn.now)) }
}

/// An integer drawn uniformly from `wait` ± `ratio` of it.
fn jittered(wait: u64, ratio: f64, drawn: u64) -> u64 {
    if ratio == 0.0 {
        return wait;
    }
    let (wait, spread) = (wait as f64, wait as f64 * ratio);
    let (low, high) = ((wait - spread).max(0.0) as u64, (wait + spread) as u64);
    low + drawn % (high - low + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_within_its_share_and_reaches_both_ends() {
        let drawn: Vec<u64> =
            (0..5000).map(|message| jittered(300, 0.3, stable_hash(0, &message.to_string()))).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&210), Some(&390)));
        assert_eq!(jittered(300, 0.0, 77), 300);
        assert!((0..100).all(|draw| jittered(10, 1.0, draw) <= 20));
    }
}
