//! The bot has answered one person often enough for an hour.
//!
//! The hour is the last one up to now, not one of the clock. What continues without a mention is held to both limits: it is
//! unasked, and it is an answer in a conversation the bot was invited into. Answers that are being written or posted count
//! as if they were given, so that a burst of questions cannot pass together.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "user_limit", order: Order::AfterScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let trigger = &case.trigger;
    let unasked = (!trigger.addressed).then(|| over_limit(case, false)).flatten();
    unasked.or_else(|| (trigger.addressed || trigger.its_turn).then(|| over_limit(case, true)).flatten())
}

/// Whether the allowed number of answers of a kind was given, or is about to be.
fn over_limit(case: &GateContext<'_>, asked_for: bool) -> Option<Closed> {
    let (gates, trigger) = (&case.policy.settings.gates, &case.trigger);
    let need = u64::from(if asked_for { gates.user_addressed_per_hour } else { gates.user_per_hour });
    if need == 0 {
        return None;
    }
    let given = case.room.answers_to(trigger.author, asked_for, case.now);
    // An admitted answer is itself among those that are owed.
    let is_owed_itself = trigger.admitted && trigger.addressed;
    let owed = if asked_for && !is_owed_itself { case.room.owed_to(trigger.author) } else { 0 };
    let have = given + case.room.leaving_to(trigger.author, asked_for) + owed;
    (have >= need).then_some(Closed { have, need })
}
