//! The day's budget of this room, or of all rooms, is spent: the rules go on, paid judgement stops.
use super::{Case, Closed, Gate, Order, Stops};
use crate::room::Cost;

pub(super) const GATE: Gate = Gate { id: "budget", order: Order::AfterScore, stops: Stops::Unasked, closed };

fn closed(case: &Case<'_>) -> Option<Closed> {
    let spent = case.room.spent.as_ref().filter(|_| case.trigger.paid)?;
    let exhausted = spent.fits(case.policy, case.now, Cost::LEAST).err()?;
    Some(Closed { have: exhausted.have, need: exhausted.limit })
}
