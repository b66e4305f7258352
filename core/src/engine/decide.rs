//! A message that is not addressed to the bot: rated by a decider, checked by the gates, and taken up or not.

use super::turn::Turn;
use super::{gate, initiative, interrupt, wait};
use crate::decider::{Decision, assess};
use crate::gates::{Order, Trigger, closed_in};
use crate::trace::{Cause, Closed, Stage, Trace};
use crate::types::{HeardAs, Message};

/// The decision after the gates.
enum Plan {
    TakeUp {
        ask: bool,
        cause: Cause,
    },
    /// The bot would be silent for this reason, but something it remembers may be worth mentioning.
    SpeakFirst(Cause),
    StaySilent(Cause),
    HoldBack((&'static str, Closed)),
}

pub(super) fn decide(turn: &mut Turn<'_>, message: &Message, mut trace: Box<Trace>, for_somebody_else: bool) {
    let assessment = assess(turn.policy, turn.room, turn.thread.as_ref(), &trace, turn.summaries);
    assessment.note(&mut trace);
    let since = interrupt::interrupt(turn, message, &trace);
    let trigger = gate::trigger(turn, message, false, for_somebody_else);
    let decision = or_ask_whether_called(turn, &trace, assessment.decision(turn.policy));
    match plan(turn, message, trigger, decision) {
        Plan::TakeUp { ask, cause } => {
            trace.cause = cause;
            wait::take_up(turn, message, trace, ask, since);
        }
        Plan::SpeakFirst(otherwise) => initiative::speak_first(turn, message, trace, otherwise),
        Plan::StaySilent(cause) => {
            wait::postpone(turn);
            turn.stay_silent(trace, Stage::Score, cause);
        }
        Plan::HoldBack(closed) => {
            wait::postpone(turn);
            turn.hold_back(trace, Stage::Gate, closed);
        }
    }
}

/// If it is unclear whether the bot is called by its name, the judge is asked, however unlikely it is that somebody joins
/// there.
fn or_ask_whether_called(turn: &Turn<'_>, trace: &Trace, decision: Decision) -> Decision {
    let unclear = trace.heard_as == Some(HeardAs::NameUnclear);
    match &decision {
        Decision::StaySilent(_) if unclear && turn.policy.asks_a_model() => {
            Decision::SpeakUp { ask: true, cause: Cause::Undecided }
        }
        Decision::StaySilent(_) | Decision::SpeakUp { .. } => decision,
    }
}

fn plan(turn: &Turn<'_>, message: &Message, trigger: Trigger<'_>, decision: Decision) -> Plan {
    if let Some(closed) = closed_in(&gate::case(turn, trigger), Order::BeforeScore) {
        return Plan::HoldBack(closed);
    }
    match decision {
        Decision::SpeakUp { ask, cause } => {
            let closed = closed_in(&gate::case(turn, Trigger { paid: ask, ..trigger }), Order::AfterScore);
            closed.map_or(Plan::TakeUp { ask, cause }, Plan::HoldBack)
        }
        Decision::StaySilent(cause) if initiative::may_speak_first(turn, message, trigger) => Plan::SpeakFirst(cause),
        Decision::StaySilent(cause) => Plan::StaySilent(cause),
    }
}
