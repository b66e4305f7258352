//! The larger the bot's part of the talk, the quieter it gets.
use super::{Closed, Gate, GateContext, GateScope, Order};
use crate::types::Flags;

pub(super) const GATE: Gate = Gate { id: "floor_share", order: Order::AfterScore, stops: GateScope::Joining, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let settings = &case.policy.settings;
    if !settings.gates.floor_share {
        return None;
    }
    let (mut own, mut all, mut people) = (0usize, 0usize, Vec::new());
    for heard in case.place.recent(case.policy, case.now).take(settings.score.window_messages as usize) {
        all += 1;
        if heard.flags.has(Flags::OWN) {
            own += 1;
        } else if heard.is_person() && !people.contains(&heard.speaker) {
            people.push(heard.speaker);
        }
    }
    let above = own * (people.len() + 1) > all;
    (all >= settings.gates.floor_messages_min as usize && above)
        .then(|| Closed { have: (own * 100 / all) as u64, need: (100 / (people.len() + 1)) as u64 })
}
