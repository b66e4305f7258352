//! Two bots would go on for ever: it lets the other have the last word.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::types::Flags;

pub(super) const GATE: Gate =
    Gate { id: "loop_guard", order: Order::BeforeScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let need = u64::from(case.policy.settings.gates.loop_exchanges);
    if need == 0 || !case.trigger.by_bot {
        return None;
    }
    let between_the_two = case.place.recent(case.policy, case.now).take_while(|heard| {
        heard.flags.has(Flags::OWN) || case.room.speakers.key_at(heard.speaker) == case.trigger.author
    });
    let have = between_the_two.filter(|heard| heard.flags.has(Flags::OWN)).count() as u64;
    (have >= need).then_some(Closed { have, need })
}
