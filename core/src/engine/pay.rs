//! The cost of calls: reserved before a call, settled after it, released if the call is never made.

use super::turn::Turn;
use crate::input::Answer;
use crate::policy::Policy;
use crate::room::{Cost, Exhausted};
use crate::trace::Closed;
use crate::types::CallId;
use crate::usage::{Failure, Usage};

/// The approximate number of tokens that our own instructions and memories add to the talk in a prompt.
const INSTRUCTION_TOKENS: u64 = 1_500;

/// The maximum cost of a call, as far as it can be known before the call.
#[derive(Clone, Copy)]
pub(super) struct Estimate<'a> {
    pub model: &'a str,
    pub calls: u64,
    /// Tokens of the talk it is shown.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_max: u32,
    /// Tokens that are embedded for a lookup before the call; `None` if nothing is.
    pub looked_up: Option<u64>,
}

impl Estimate<'_> {
    fn cost(self, policy: &Policy) -> Cost {
        let thinking = u64::from(policy.settings.models.thinking_tokens);
        let tokens_in = self.tokens_in + self.calls * INSTRUCTION_TOKENS;
        let tokens_out = self.calls * (u64::from(self.tokens_max) + thinking);
        let micros = policy.price(self.model).micros(tokens_in, tokens_out);
        let asked = Cost { calls: self.calls, tokens: tokens_in + tokens_out, micros };
        asked + self.looked_up.and_then(|tokens| look_up_cost(policy, tokens)).unwrap_or_default()
    }
}

/// The cost of embedding, if that is done.
fn look_up_cost(policy: &Policy, tokens: u64) -> Option<Cost> {
    let model = policy.embedding_model()?;
    Some(Cost { calls: 1, tokens, micros: policy.price(&model).micros(tokens, 0) })
}

/// The known cost of an answer or a failure.
pub(super) fn micros_of(answer: &Result<Answer, Failure>) -> u64 {
    match answer {
        Ok(answer) => answer.usage.micros,
        Err(failure) => failure.usage.map_or(0, |usage| usage.micros),
    }
}

/// Reserves money for a call, or says why there is none.
pub(super) fn reserve(turn: &mut Turn<'_>, call: &CallId, estimate: Estimate<'_>) -> Result<(), Closed> {
    reserve_cost(turn, call, estimate.cost(turn.policy))
}

/// The same for a lookup by meaning; nothing if that is free.
pub(super) fn reserve_look_up(turn: &mut Turn<'_>, call: &CallId, tokens: u64) -> Result<(), Closed> {
    look_up_cost(turn.policy, tokens).map_or(Ok(()), |cost| reserve_cost(turn, call, cost))
}

fn reserve_cost(turn: &mut Turn<'_>, call: &CallId, cost: Cost) -> Result<(), Closed> {
    let spent = turn.room.spent.get_or_insert_default();
    let fits = spent.fits(turn.policy, turn.now, cost);
    fits.map_err(|Exhausted { have, limit }| Closed { have, need: limit })?;
    spent.reserve(call.serial, cost);
    Ok(())
}

/// A call ended. Without a bill its reservation counts as spent.
pub(super) fn settle(turn: &mut Turn<'_>, call: &CallId, bill: Option<Cost>) {
    if let Some(spent) = &mut turn.room.spent {
        spent.settle(turn.policy, turn.now, call.serial, bill);
    }
}

/// An answer took at least one call; a failure may have cost nothing.
pub(super) fn settle_answer(turn: &mut Turn<'_>, call: &CallId, answer: &Result<Answer, Failure>) {
    let bill = match answer {
        Ok(answer) => Some(Cost::from(&Usage { calls: answer.usage.calls.max(1), ..answer.usage })),
        Err(failure) => failure.usage.as_ref().map(Cost::from),
    };
    settle(turn, call, bill);
}

/// Something was paid on behalf of this room that it did not request itself.
pub(super) fn handle_billed(turn: &mut Turn<'_>, usage: &Usage) {
    turn.room.spent.get_or_insert_default().add(turn.policy, turn.now, usage.into());
}

/// After a restart, whatever was in flight is lost, and may have been paid for.
pub(super) fn settle_lost(turn: &mut Turn<'_>) {
    if let Some(spent) = &mut turn.room.spent {
        spent.settle_lost(turn.policy, turn.now);
    }
}
