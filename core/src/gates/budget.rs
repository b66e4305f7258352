//! The daily budget of this room, or of all rooms, is spent: the rules go on, paid judgement stops.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::room::Cost;

pub(super) const GATE: Gate = Gate { id: "budget", order: Order::AfterScore, stops: GateScope::Unasked, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let spent = case.room.spent.as_ref().filter(|_| case.trigger.paid)?;
    let exhausted = spent.fits(case.policy, case.now, Cost::LEAST).err()?;
    Some(Closed { have: exhausted.have, need: exhausted.limit })
}
