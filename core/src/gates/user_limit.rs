//! One person has had enough of its answers for an hour.
//!
//! The hour is the last one up to now, not one of the clock. What goes on without a mention is held to both limits: it is unasked, and
//! it is an answer in a conversation it was invited into. Answers that are written or posted at the moment count as if they were
//! given, so that a burst of questions cannot pass together.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "user_limit", order: Order::AfterScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let trigger = &case.trigger;
    let unasked = (!trigger.addressed).then(|| over_limit(case, false)).flatten();
    unasked.or_else(|| (trigger.addressed || trigger.its_turn).then(|| over_limit(case, true)).flatten())
}

/// Whether as many answers of a kind as are allowed were given, or are about to be.
fn over_limit(case: &GateContext<'_>, asked_for: bool) -> Option<Closed> {
    let (gates, trigger) = (&case.policy.settings.gates, &case.trigger);
    let need = u64::from(if asked_for { gates.user_addressed_per_hour } else { gates.user_per_hour });
    if need == 0 {
        return None;
    }
    let given = case.room.answers_to(trigger.author, asked_for, case.now);
    // What was admitted is itself among what is owed.
    let is_owed_itself = trigger.admitted && trigger.addressed;
    let owed = if asked_for && !is_owed_itself { case.room.owed_to(trigger.author) } else { 0 };
    let have = given + case.room.leaving_to(trigger.author, asked_for) + owed;
    (have >= need).then_some(Closed { have, need })
}
