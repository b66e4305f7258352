//! It has had its share of the talk that was asked for with "talk 3%".
use super::{Case, Closed, Gate, Order, Stops};

pub const GATE: Gate = Gate {
    id: "talk",
    doc: "it has spoken up as often as it was asked to",
    say: "it has spoken up {have} times lately, and the share it was given comes to {need}",
    order: Order::AfterScore,
    stops: Stops::Unasked,
    closed,
};

fn closed(case: &Case<'_>) -> Option<Closed> {
    let talk = case.room.talk.as_ref()?;
    (talk.spoke() >= talk.due()).then(|| Closed { have: talk.spoke().round() as u64, need: talk.due() as u64 })
}
