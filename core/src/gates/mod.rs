//! 3. Gates: one file per reason to stay silent, whatever the score.
//!
//! They are checked before anything is paid for, when a wait is over, and once more at the instant of posting.

mod addressed_elsewhere;
mod bot_answered;
mod budget;
mod floor_share;
mod interval;
mod loop_guard;
mod messages_min;
mod mute;
mod on_its_way;
mod quiet_hours;
mod spoke_last;
mod talk;
mod unasked;
mod user_limit;

use crate::policy::Policy;
use crate::room::{PlaceState, Room};
pub(crate) use crate::trace::Closed;
use crate::types::{ConversationId, Time};

/// A reason to stay silent; its sentences are found by its id in `locales/`.
pub struct Gate {
    pub id: &'static str,
    pub(crate) order: Order,
    pub(crate) stops: GateScope,
    /// What it found, if it is closed.
    pub(crate) closed: fn(&GateContext<'_>) -> Option<Closed>,
}

/// Whether a gate is checked before the score decides or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    BeforeScore,
    AfterScore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateScope {
    /// Includes an answer to somebody who addressed the bot.
    Everything,
    Unasked,
    /// Unasked contributions to a conversation the bot takes no part in: it may finish what it began.
    Joining,
}

/// In the order in which they are checked.
pub const GATES: &[Gate] = &[
    mute::GATE,
    quiet_hours::GATE,
    unasked::GATE,
    loop_guard::GATE,
    messages_min::GATE,
    on_its_way::GATE,
    interval::GATE,
    talk::GATE,
    addressed_elsewhere::GATE,
    bot_answered::GATE,
    spoke_last::GATE,
    floor_share::GATE,
    user_limit::GATE,
    budget::GATE,
];

/// The input of a gate.
pub(crate) struct GateContext<'a> {
    pub now: Time,
    pub policy: &'a Policy,
    pub room: &'a Room,
    pub place: &'a PlaceState,
    /// The conversation it is about; `None` is the place as a whole.
    pub conversation: Option<ConversationId>,
    /// The message that gives the reason.
    pub trigger: Trigger<'a>,
}

#[derive(Clone, Copy)]
pub(crate) struct Trigger<'a> {
    pub id: &'a str,
    /// Hash of the author's id.
    pub author: u64,
    pub by_bot: bool,
    pub addressed: bool,
    pub for_somebody_else: bool,
    /// The bot takes part in the conversation, and it is probably its turn.
    pub its_turn: bool,
    /// Whether a model would have to be paid for it.
    pub paid: bool,
    /// It passed the gates before and is owed or pending; they are only checked again.
    pub admitted: bool,
}

/// The first closed gate of this order.
pub(crate) fn closed_in(case: &GateContext<'_>, order: Order) -> Option<(&'static str, Closed)> {
    GATES.iter().filter(|gate| gate.order == order).find_map(|gate| check(gate, case))
}

/// The first closed gate of all.
pub(crate) fn closed(case: &GateContext<'_>) -> Option<(&'static str, Closed)> {
    GATES.iter().find_map(|gate| check(gate, case))
}

fn check(gate: &Gate, case: &GateContext<'_>) -> Option<(&'static str, Closed)> {
    let passes = match gate.stops {
        GateScope::Everything => false,
        GateScope::Unasked => case.trigger.addressed,
        GateScope::Joining => case.trigger.addressed || case.trigger.its_turn,
    };
    if passes {
        return None;
    }
    (gate.closed)(case).map(|closed| (gate.id, closed))
}
