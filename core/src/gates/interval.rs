//! Minimum time between two unasked contributions.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::types::Span;

pub(super) const GATE: Gate = Gate { id: "interval", order: Order::AfterScore, stops: GateScope::Joining, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    // With a talk share, the time in between follows from that.
    if case.room.talk.as_ref().is_some_and(|talk| talk.asked.is_some()) {
        return None;
    }
    let gates = &case.policy.settings.gates;
    let last = case.place.bot.as_ref()?.spoke_up_at?;
    let elapsed = case.now.since(last);
    let need = Span::seconds(gates.interval_seconds.into());
    let too_soon =
        if gates.interval_whole_minutes { elapsed.whole_minutes() < need.whole_minutes() } else { elapsed < need };
    too_soon.then(|| Closed { have: elapsed.whole_seconds(), need: need.whole_seconds() })
}
