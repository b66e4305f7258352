//! One person has had enough of its answers for an hour.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "user_limit", order: Order::AfterScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let gates = &case.policy.settings.gates;
    let addressed = case.trigger.addressed;
    let need = u64::from(if addressed { gates.user_addressed_per_hour } else { gates.user_per_hour });
    if need == 0 {
        return None;
    }
    let have = case.room.answers_to(case.trigger.author, addressed, case.now);
    (have >= need).then_some(Closed { have, need })
}
