//! It only answers when it is addressed.
use super::{Case, Closed, Gate, Order, Stops};

pub(super) const GATE: Gate = Gate { id: "unasked", order: Order::BeforeScore, stops: Stops::Unasked, closed };

fn closed(case: &Case<'_>) -> Option<Closed> {
    let settings = &case.policy.settings;
    (!settings.gates.unasked || !settings.memory.enabled).then(Closed::default)
}
