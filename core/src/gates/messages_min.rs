//! Too little was said to understand what the talk is about.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "messages_min", order: Order::AfterScore, stops: GateScope::Joining, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let need = case.policy.settings.gates.messages_min as usize;
    let people = case.place.recent(case.policy, case.now).filter(|heard| heard.is_person());
    let have = people.take(need).count();
    (have < need).then_some(Closed { have: have as u64, need: need as u64 })
}
