//! Speaking first: when a silent channel becomes active, the bot may mention something it remembers, if it is about the new
//! message.

use super::turn::Turn;
use super::{alarm, gate, pay, wait};
use crate::effect::{Effect, Recall};
use crate::gates::{Order, Trigger, closed_in};
use crate::memory::FactId;
use crate::room::{FirstWords, Pending, Phase};
use crate::trace::{Cause, Stage, Trace};
use crate::types::{CallId, Message, Span, Time, Visibility, Voice};
use crate::usage::tokens_of_bytes;

/// Whether this message ends the silence of a channel in which the bot may speak first. The same gates apply as for any
/// other contribution.
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
    let minutes = u64::from(turn.policy.settings.memory.proactive_silence_minutes);
    // Each remark that nobody responded to doubles the silence required for the next one.
    let ignored = turn.place().bot.as_ref().map_or(0, |bot| bot.ignored_remarks).min(DOUBLINGS_MAX);
    before != Time(0) && message.at.since(before) >= Span::minutes(minutes << ignored)
}

/// From an hour of silence to almost three days.
const DOUBLINGS_MAX: u32 = 6;

/// Looks for something to mention while it waits for quiet, as with any other reason.
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
    turn.place_mut().add_pending(pending);
    alarm::set_alarm(turn);
    turn.out.push(Effect::Recall(Box::new(recall)));
}

pub(super) fn handle_recalled(turn: &mut Turn<'_>, call: &CallId, found: Option<FactId>) {
    let Some(index) = turn.place().pending.iter().position(|pending| pending.seeks(call)) else { return };
    match found {
        Some(fact) => turn.place_mut().pending[index].telling = Some(FirstWords::Found(fact)),
        None => {
            let pending = turn.place_mut().remove_pending(index);
            nothing_to_tell(turn, pending);
        }
    }
}

/// The quiet period is over and nothing was found: the bot is silent for the original reason.
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

#[cfg(test)]
mod tests {
    use super::super::{Engine, reception};
    use super::*;
    use crate::Input;
    use crate::settings::Layers;
    use crate::types::{Author, MessageId, PersonId, Place, Response};

    const MINUTE: u64 = 60_000;

    fn says(engine: &mut Engine, minutes: u64) -> Vec<Effect> {
        let (at, mut out) = (Time(1_000_000 + minutes * MINUTE), Vec::new());
        let message = Message {
            id: MessageId::new(format!("m{minutes}")),
            place: Place::room("web:lobby"),
            at,
            author: Author { id: PersonId::new("mia"), name: "mia".into(), voice: Voice::Person },
            text: "ok".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        engine.handle(at, Input::Said(message), &mut out);
        out
    }

    /// Whether it looks for something to tell after this silence, where people made this of its last remarks.
    fn looks(responses: &[Response], silence: u64) -> bool {
        let mut layers = Layers::default();
        layers.suggest_for_replay();
        let mut engine = Engine::new(layers.resolve(&|_| None).unwrap());
        let first = says(&mut engine, 0);
        let trace = first.into_iter().find_map(|effect| match effect {
            Effect::Trace(trace) => Some(trace),
            _ => None,
        });
        let trace = trace.expect("it was decided");
        for response in responses {
            let mut out = Vec::new();
            let mut turn = engine.turn_at(0, None, Time(1_000_000), &mut out);
            reception::track_contribution(&mut turn, trace.clone(), &[MessageId::new("post")], true);
            reception::received(&mut turn, 0, *response);
        }
        says(&mut engine, silence).iter().any(|effect| matches!(effect, Effect::Recall(_)))
    }

    #[test]
    fn each_remark_that_nobody_takes_up_makes_the_next_one_wait_for_twice_the_silence() {
        assert!(looks(&[], 61) && !looks(&[], 59));
        assert!(!looks(&[Response::Ignored], 61) && looks(&[Response::Ignored], 121));
        assert!(!looks(&[Response::Ignored, Response::ToldOff], 239) && looks(&[Response::Ignored; 2], 241));
        assert!(looks(&[Response::Ignored, Response::Answered], 61), "somebody took it up");
        assert!(looks(&[Response::Ignored; 9], 61 * 64), "it never gives up for good");
    }
}
