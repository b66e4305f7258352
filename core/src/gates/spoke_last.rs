//! The last message here is the bot's own.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::types::Flags;

pub(super) const GATE: Gate = Gate { id: "spoke_last", order: Order::AfterScore, stops: GateScope::Joining, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let own_last = || {
        case.place
            .recent_of(case.policy, case.now, case.conversation)
            .next()
            .is_some_and(|heard| heard.flags.has(Flags::OWN))
    };
    (case.policy.settings.gates.spoke_last && own_last()).then(Closed::default)
}
