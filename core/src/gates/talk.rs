//! The bot has used up its share of the talk (`talk = "3%"`).
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "talk", order: Order::AfterScore, stops: GateScope::Joining, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let (talk, share) = case.room.talk_of(case.policy)?;
    talk.messages_to_wait(share, case.trigger.paid).map(|need| Closed { have: 0, need })
}
