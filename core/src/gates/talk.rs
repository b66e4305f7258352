//! It has had its share of the talk (`talk = "3%"`).
use super::{Case, Closed, Gate, Order, Stops};

pub(super) const GATE: Gate = Gate { id: "talk", order: Order::AfterScore, stops: Stops::Unasked, closed };

fn closed(case: &Case<'_>) -> Option<Closed> {
    let (talk, share) = case.room.talk_of(case.policy)?;
    talk.messages_to_wait(share, case.trigger.paid).map(|need| Closed { have: 0, need })
}
