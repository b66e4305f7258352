//! A post of its own is on its way: until the platform has taken it, there is no telling whether to say more.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "on_its_way", order: Order::AfterScore, stops: GateScope::Unasked, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let bot = case.place.bot.as_ref()?;
    bot.on_its_way().any(|sent| !sent.addressed).then(Closed::default)
}
