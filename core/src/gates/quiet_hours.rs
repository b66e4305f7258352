//! The hours in which it lets people sleep.
use super::{Case, Closed, Gate, Order, Stops};

pub(super) const GATE: Gate = Gate { id: "quiet_hours", order: Order::BeforeScore, stops: Stops::Everything, closed };

fn closed(case: &Case<'_>) -> Option<Closed> {
    let gates = &case.policy.settings.gates;
    if case.trigger.addressed && gates.quiet_hours_addressed {
        return None;
    }
    let hours = gates.quiet_hours?;
    hours.contains(case.policy.zone.minute_of_day(case.now)).then(Closed::default)
}
