//! The message is for somebody else.
use super::{Case, Closed, Gate, Order, Stops};

pub(super) const GATE: Gate =
    Gate { id: "addressed_elsewhere", order: Order::AfterScore, stops: Stops::Unasked, closed };

fn closed(case: &Case<'_>) -> Option<Closed> {
    (case.policy.settings.gates.addressed_elsewhere && case.trigger.for_somebody_else).then(Closed::default)
}
