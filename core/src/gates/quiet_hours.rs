//! The hours in which the bot lets people sleep.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate =
    Gate { id: "quiet_hours", order: Order::BeforeScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let gates = &case.policy.settings.gates;
    // What goes on without a mention is not addressed to it.
    if case.trigger.addressed && !case.trigger.its_turn && gates.quiet_hours_addressed {
        return None;
    }
    let hours = gates.quiet_hours?;
    hours.contains(case.policy.zone.minute_of_day(case.now)).then(Closed::default)
}
