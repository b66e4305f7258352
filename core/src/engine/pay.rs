//! What calls cost: set aside before a call, settled after it, given back where the call is never made.

use crate::effect::{Excuse, Failure, Usage};
use crate::engine::turn::Turn;
use crate::gates::Closed;
use crate::input::{Answer, TotalSpent};
use crate::policy::Policy;
use crate::room::{Cost, Exhausted, Phase};
use crate::trace::Stage;
use crate::types::CallId;

/// About how many tokens our own instructions and what is remembered add to the talk in a prompt.
const INSTRUCTION_TOKENS: u64 = 1_500;

/// What a call may cost at most, as far as that can be known before it is made.
#[derive(Clone, Copy)]
pub(super) struct Estimate<'a> {
    pub model: &'a str,
    pub calls: u64,
    /// Of the talk it is shown.
    pub tokens_in: u64,
    /// Of the answer.
    pub tokens_max: u32,
    /// Of what is looked up by its meaning before; none where nothing is.
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

/// What it costs to turn words into a vector, where that is done.
fn look_up_cost(policy: &Policy, tokens: u64) -> Option<Cost> {
    let model = policy.embedding_model()?;
    Some(Cost { calls: 1, tokens, micros: policy.price(&model).micros(tokens, 0) })
}

/// What an answer or a failure is known to have cost.
pub(super) fn micros_of(answer: &Result<Answer, Failure>) -> u64 {
    match answer {
        Ok(answer) => answer.usage.micros,
        Err(failure) => failure.usage.map_or(0, |usage| usage.micros),
    }
}

impl Turn<'_> {
    /// Sets money aside for a call, or says why there is none.
    pub(super) fn reserve(&mut self, call: &CallId, estimate: Estimate<'_>) -> Result<(), Closed> {
        self.set_aside(call, estimate.cost(self.policy))
    }

    /// The same for looking something up by its meaning; nothing where that is free.
    pub(super) fn reserve_look_up(&mut self, call: &CallId, tokens: u64) -> Result<(), Closed> {
        look_up_cost(self.policy, tokens).map_or(Ok(()), |cost| self.set_aside(call, cost))
    }

    fn set_aside(&mut self, call: &CallId, cost: Cost) -> Result<(), Closed> {
        let spent = self.room.spent.get_or_insert_default();
        let fits = spent.fits(self.policy, self.now, cost);
        fits.map_err(|Exhausted { have, limit }| Closed { have, need: limit })?;
        spent.reserve(call.serial, cost);
        Ok(())
    }

    /// A call ended. Without a bill what was set aside for it is spent.
    pub(super) fn settle(&mut self, call: &CallId, bill: Option<Cost>) {
        if let Some(spent) = &mut self.room.spent {
            spent.settle(self.policy, self.now, call.serial, bill);
        }
    }

    /// An answer took at least one call; a failure may have cost nothing.
    pub(super) fn settle_answer(&mut self, call: &CallId, answer: &Result<Answer, Failure>) {
        let bill = match answer {
            Ok(answer) => Some(Cost::from(&Usage { calls: answer.usage.calls.max(1), ..answer.usage })),
            Err(failure) => failure.usage.as_ref().map(Cost::from),
        };
        self.settle(call, bill);
    }

    /// Something was paid for on behalf of this room that it did not ask for itself.
    pub(super) fn billed(&mut self, usage: &Usage) {
        self.room.spent.get_or_insert_default().add(self.policy, self.now, usage.into());
    }

    /// The program starts again: whatever was in flight is lost, and may have been paid for.
    pub(super) fn settle_lost(&mut self) {
        if let Some(spent) = &mut self.room.spent {
            spent.settle_lost(self.policy, self.now);
        }
    }

    /// The call was not made, because nothing is left of the budget over all rooms.
    pub(super) fn refused(&mut self, call: &CallId, why: TotalSpent) {
        if let Some(spent) = &mut self.room.spent {
            spent.refuse(self.policy, self.now, call.serial, why);
        }
        let closed = Closed { have: why.have, need: why.limit };
        if self.refused_to_judge(call, closed) {
            return;
        }
        if let Some(pending) = self.take_writing(call) {
            let owed = pending.addressed.is_some();
            match self.closed_for(&pending, false) {
                Some(closed) => self.withhold(pending, closed),
                None if owed => self.excuse(pending, Excuse::BudgetSpent, "the budget of the day is spent"),
                None => self.withhold(pending, ("budget", closed)),
            }
            if owed {
                self.write_next();
            }
            return;
        }
        let now = self.now;
        if self.room.digest.as_mut().is_some_and(|digest| digest.end(call.serial, now, false)) {
            return self.digest();
        }
        self.recalled(call, None);
    }

    fn refused_to_judge(&mut self, call: &CallId, closed: Closed) -> bool {
        let judges = |phase: &Phase| matches!(phase, Phase::Judging { call: current, .. } if current == call);
        let pending = &mut self.place_mut().pending;
        let Some(index) = pending.iter().position(|pending| judges(&pending.phase)) else { return false };
        let pending = pending.remove(index);
        self.conversation = pending.conversation;
        if let Some((talk, _)) = self.room.talk_mut(self.policy) {
            talk.note_not_asked();
        }
        self.hold_back(pending.trace, Stage::Gate, ("budget", closed));
        true
    }
}
