//! Somebody asked the bot to say nothing, or the room was switched off.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "mute", order: Order::BeforeScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    (case.room.off || case.room.is_muted(case.now)).then(Closed::default)
}
