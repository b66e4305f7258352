//! What a room spent today. Money is reserved before a call and settled after it, so that parallel calls can not overrun.

use serde::{Deserialize, Serialize};

use crate::effect::Usage;
use crate::policy::Policy;
use crate::types::Time;
use crate::view::SpentView;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    day: i64,
    calls: u64,
    tokens: u64,
    micros: u64,
    reserved: Vec<Reserved>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Reserved {
    serial: u64,
    tokens: u64,
    micros: u64,
}

/// Which limit stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    pub have: u64,
    pub limit: u64,
}

/// About how many tokens a text of this length has: one for three bytes suits both English and Japanese.
pub fn tokens_of_bytes(bytes: usize) -> u64 {
    bytes.div_ceil(3) as u64
}

impl Spent {
    /// Whether `tokens` and `micros` more still fit into today's limits.
    pub fn fits(&self, policy: &Policy, now: Time, tokens: u64, micros: u64) -> Result<(), Exhausted> {
        let today = self.day == policy.zone.day(now);
        let spent = |amount: u64| if today { amount } else { 0 };
        let budget = &policy.settings.budget;
        let reserved = |of: fn(&Reserved) -> u64| self.reserved.iter().map(of).sum::<u64>();
        let within = |have: u64, more: u64, limit: u64| {
            if limit > 0 && have + more > limit { Err(Exhausted { have, limit }) } else { Ok(()) }
        };
        within(spent(self.calls) + self.reserved.len() as u64, 1, budget.calls_per_day.into())?;
        within(spent(self.tokens) + reserved(|r| r.tokens), tokens, budget.tokens_per_day)?;
        within(spent(self.micros) + reserved(|r| r.micros), micros, (budget.dollars_per_day * 1e6) as u64)
    }

    /// What was spent on the day of `now`.
    pub fn today(&self, policy: &Policy, now: Time) -> SpentView {
        if self.day != policy.zone.day(now) {
            return SpentView::default();
        }
        SpentView { calls: self.calls, tokens: self.tokens, micros: self.micros }
    }

    pub fn reserve(&mut self, serial: u64, tokens: u64, micros: u64) {
        self.reserved.push(Reserved { serial, tokens, micros });
    }

    /// A call ended. Without a bill (it was aborted or failed) what was reserved counts as spent.
    pub fn settle(&mut self, policy: &Policy, now: Time, serial: u64, bill: Option<&Usage>) {
        let Some(place) = self.reserved.iter().position(|reserved| reserved.serial == serial) else { return };
        let reserved = self.reserved.swap_remove(place);
        let day = policy.zone.day(now);
        if self.day != day {
            (self.day, self.calls, self.tokens, self.micros) = (day, 0, 0, 0);
        }
        self.calls += 1;
        self.tokens += bill.map_or(reserved.tokens, |usage| usage.tokens_in + usage.tokens_out);
        self.micros += bill.map_or(reserved.micros, |usage| usage.micros);
    }
}
