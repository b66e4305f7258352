//! One of the bot's own posts is being sent: until the platform has accepted it, it is unknown whether to say more.
use super::{Closed, Gate, GateContext, GateScope, Order};

pub(super) const GATE: Gate = Gate { id: "on_its_way", order: Order::AfterScore, stops: GateScope::Unasked, closed };

fn closed(case: &GateContext<'_>) -> Option<Closed> {
    let bot = case.place.bot.as_ref()?;
    bot.on_its_way().any(|sent| !sent.addressed).then(Closed::default)
}
