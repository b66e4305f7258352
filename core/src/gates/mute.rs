//! It was told to say nothing, or the room was switched off.
use super::{Case, Closed, Gate, Order, Stops};

pub(super) const GATE: Gate = Gate { id: "mute", order: Order::BeforeScore, stops: Stops::Everything, closed };

fn closed(case: &Case<'_>) -> Option<Closed> {
    (case.room.off || case.room.is_muted(case.now)).then(Closed::default)
}
