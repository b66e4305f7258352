//! Another bot has answered already.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::types::Flags;

pub(super) const GATE: Gate = Gate { id: "bot_answered", order: Order::AfterScore, stops: GateScope::Unasked, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    if !case.policy.settings.gates.bot_answered {
        return None;
    }
    let mut since = case.place.recent(case.policy, case.now).take_while(|heard| heard.id() != case.trigger.id);
    since.any(|heard| heard.flags.has(Flags::BOT)).then(Closed::default)
}
