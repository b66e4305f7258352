//! The message is for somebody else.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate =
    Gate { id: "addressed_elsewhere", order: Order::AfterScore, stops: GateScope::Unasked, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    (case.policy.settings.gates.addressed_elsewhere && case.trigger.for_somebody_else).then(Closed::default)
}
