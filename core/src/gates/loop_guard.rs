//! Bots would answer each other forever, two of them or several in turn: the bot lets the others have the last word.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::types::Flags;

pub(super) const GATE: Gate =
    Gate { id: "loop_guard", order: Order::BeforeScore, stops: GateScope::Everything, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let need = u64::from(case.policy.settings.gates.loop_exchanges);
    if need == 0 || !case.trigger.by_bot {
        return None;
    }
    let among_bots = case
        .place
        .recent(case.policy, case.now)
        .take_while(|heard| heard.flags.has(Flags::OWN) || heard.flags.has(Flags::BOT));
    let have = among_bots.filter(|heard| heard.flags.has(Flags::OWN)).count() as u64;
    (have >= need).then_some(Closed { have, need })
}
