//! The bot only answers when it is addressed.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "unasked", order: Order::BeforeScore, stops: GateScope::Unasked, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let settings = &case.policy.settings;
    (!settings.gates.unasked || !settings.memory.enabled).then(Closed::default)
}
