//! What a room spent today. Money is reserved before a call and settled after it, so that concurrent calls cannot exceed
//! the budget.

use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use crate::policy::Policy;
use crate::settings::Budget;
use crate::types::{Time, Zone};
use crate::usage::{TotalSpent, Usage};

/// Limits as a cost; zero means none. The smallest part of a cent is still a limit.
fn limit(calls: u32, tokens: u64, dollars: f64) -> Cost {
    Cost { calls: calls.into(), tokens, micros: (dollars * 1e6).ceil() as u64 }
}

impl Budget {
    pub fn of_room(&self) -> Cost {
        limit(self.calls_per_day, self.tokens_per_day, self.dollars_per_day)
    }

    pub fn of_all_rooms(&self) -> Cost {
        limit(self.total_calls_per_day, self.total_tokens_per_day, self.total_dollars_per_day)
    }
}

/// Model calls, their tokens, and millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    pub calls: u64,
    pub tokens: u64,
    pub micros: u64,
}

impl Cost {
    /// The minimum cost of a call.
    pub const LEAST: Cost = Cost { calls: 1, tokens: 1, micros: 1 };

    /// Whether `more` still fits beside this; a limit of zero means none, and what is free always fits.
    pub fn fits(self, more: Cost, limit: Cost) -> Result<(), Exhausted> {
        let within = |have: u64, more: u64, limit: u64| {
            let over = limit > 0 && more > 0 && have.saturating_add(more) > limit;
            if over { Err(Exhausted { have, limit }) } else { Ok(()) }
        };
        within(self.calls, more.calls, limit.calls)?;
        within(self.tokens, more.tokens, limit.tokens)?;
        within(self.micros, more.micros, limit.micros)
    }

    pub fn is_zero(self) -> bool {
        self == Cost::default()
    }
}

impl From<&Usage> for Cost {
    fn from(usage: &Usage) -> Cost {
        Cost { calls: usage.calls, tokens: usage.tokens_in.saturating_add(usage.tokens_out), micros: usage.micros }
    }
}

impl Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost {
            calls: self.calls.saturating_add(other.calls),
            tokens: self.tokens.saturating_add(other.tokens),
            micros: self.micros.saturating_add(other.micros),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Sub for Cost {
    type Output = Cost;
    fn sub(self, other: Cost) -> Cost {
        Cost {
            calls: self.calls.saturating_sub(other.calls),
            tokens: self.tokens.saturating_sub(other.tokens),
            micros: self.micros.saturating_sub(other.micros),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    day: i64,
    calls: u64,
    tokens: u64,
    micros: u64,
    reserved: Vec<Reserved>,
    /// Other days, the most recently used first: a clock that jumps and comes back finds what was spent before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    other_days: Vec<(i64, Cost)>,
    /// The day on which the budget over all rooms is spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<Box<(i64, TotalSpent)>>,
}

/// The reservation of a call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Reserved {
    serial: u64,
    tokens: u64,
    micros: u64,
    #[serde(default = "one")]
    calls: u64,
}

fn one() -> u64 {
    1
}

impl Reserved {
    fn cost(&self) -> Cost {
        Cost { calls: self.calls, tokens: self.tokens, micros: self.micros }
    }
}

/// Which limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    pub have: u64,
    pub limit: u64,
}

/// How many days besides the current one are kept.
const OTHER_DAYS_MAX: usize = 3;

impl Spent {
    /// Whether `more` still fits into today's limits, including reservations.
    pub fn fits(&self, policy: &Policy, now: Time, more: Cost) -> Result<(), Exhausted> {
        let today = policy.zone.day(now);
        if let Some((_, spent)) = self.total.as_deref().filter(|(day, _)| *day == today) {
            return Err(Exhausted { have: spent.have, limit: spent.limit });
        }
        let reserved = self.reserved.iter().fold(Cost::default(), |sum, reserved| sum + reserved.cost());
        (self.on(today) + reserved).fits(more, policy.settings.budget.of_room())
    }

    /// What was spent on the day of `now`.
    pub fn today(&self, policy: &Policy, now: Time) -> Cost {
        self.on(policy.zone.day(now))
    }

    fn on(&self, day: i64) -> Cost {
        self.days().find(|(of, _)| *of == day).map_or(Cost::default(), |(_, cost)| cost)
    }

    /// What was spent by day, for the days that are kept.
    pub fn days(&self) -> impl Iterator<Item = (i64, Cost)> + '_ {
        let current = Cost { calls: self.calls, tokens: self.tokens, micros: self.micros };
        std::iter::once((self.day, current)).chain(self.other_days.iter().copied())
    }

    /// The reservations, by the call's number.
    pub fn reserved(&self) -> impl Iterator<Item = (u64, Cost)> + '_ {
        self.reserved.iter().map(|reserved| (reserved.serial, reserved.cost()))
    }

    pub fn reserve(&mut self, serial: u64, cost: Cost) {
        let Cost { calls, tokens, micros } = cost;
        self.reserved.reserve_exact(1);
        self.reserved.push(Reserved { serial, calls, tokens, micros });
    }

    /// A call ended. Without a bill (it was aborted, or nobody knows) its reservation counts as spent.
    pub fn settle(&mut self, policy: &Policy, now: Time, serial: u64, bill: Option<Cost>) {
        if let Some(reserved) = self.release(serial) {
            self.add(policy, now, bill.unwrap_or(reserved));
        }
    }

    /// Calls that nobody waits for any more may have been paid for.
    pub fn settle_lost(&mut self, policy: &Policy, now: Time) {
        while let Some(lost) = self.reserved.pop() {
            self.add(policy, now, lost.cost());
        }
    }

    /// The call was never made: nothing is spent.
    pub fn refuse(&mut self, policy: &Policy, now: Time, serial: u64, why: TotalSpent) {
        self.release(serial);
        if why.for_today {
            self.total = Some(Box::new((policy.zone.day(now), why)));
        }
    }

    /// The clock was set: what was spent on the day it showed counts for the day it shows now.
    pub fn set_clock(&mut self, before: Time, now: Time, zone: &Zone) {
        let (from, to) = (zone.day(before), zone.day(now));
        if from == to {
            return;
        }
        let spent = self.on(from);
        self.other_days.retain(|(day, _)| *day != from);
        if self.day == from {
            (self.calls, self.tokens, self.micros) = (0, 0, 0);
        }
        if !spent.is_zero() {
            self.turn_to(to);
            let all = Cost { calls: self.calls, tokens: self.tokens, micros: self.micros } + spent;
            (self.calls, self.tokens, self.micros) = (all.calls, all.tokens, all.micros);
        }
        if let Some((day, _)) = self.total.as_deref_mut()
            && *day == from
        {
            *day = to;
        }
    }

    /// Other limits may apply now.
    pub fn forget_total(&mut self) {
        self.total = None;
    }

    pub fn add(&mut self, policy: &Policy, now: Time, cost: Cost) {
        self.turn_to(policy.zone.day(now));
        self.calls = self.calls.saturating_add(cost.calls);
        self.tokens = self.tokens.saturating_add(cost.tokens);
        self.micros = self.micros.saturating_add(cost.micros);
    }

    fn release(&mut self, serial: u64) -> Option<Cost> {
        let index = self.reserved.iter().position(|reserved| reserved.serial == serial)?;
        let cost = self.reserved.swap_remove(index).cost();
        // Mostly there is none, in every room that ever asked.
        if self.reserved.is_empty() {
            self.reserved = Vec::new();
        }
        Some(cost)
    }

    fn turn_to(&mut self, day: i64) {
        if self.day == day {
            return;
        }
        let current = Cost { calls: self.calls, tokens: self.tokens, micros: self.micros };
        if !current.is_zero() {
            self.other_days.insert(0, (self.day, current));
        }
        let known = self.other_days.iter().position(|(of, _)| *of == day);
        let cost = known.map_or(Cost::default(), |index| self.other_days.remove(index).1);
        self.other_days.truncate(OTHER_DAYS_MAX);
        (self.day, self.calls, self.tokens, self.micros) = (day, cost.calls, cost.tokens, cost.micros);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policies;
    use crate::settings::Layers;
    use crate::types::Span;

    #[test]
    fn what_was_spent_by_a_wrong_clock_was_spent_today() {
        let policies = policies(&[]);
        let (policy, zone) = (policies.general(), &policies.general().zone);
        let (today, tomorrow) = (Time(1_700_090_000_000), Time(1_700_090_000_000) + Span::minutes(60));
        assert_ne!(zone.day(today), zone.day(tomorrow), "an hour before midnight");
        let mut spent = Spent::default();
        spent.add(policy, today, Cost::LEAST);
        spent.add(policy, tomorrow, Cost::LEAST);
        spent.set_clock(tomorrow, today, zone);
        assert_eq!(spent.today(policy, today).calls, 2);
        assert_eq!(spent.today(policy, tomorrow).calls, 0);
    }

    fn policies(settings: &[&str]) -> Policies {
        let mut layers = Layers::default();
        settings.iter().for_each(|setting| layers.add_assignment(setting));
        layers.resolve(&|_| None).unwrap()
    }

    const NOON: Time = Time(1_775_563_200_000);
    const DAY: Span = Span::minutes(24 * 60);

    fn cost(micros: u64) -> Cost {
        Cost { calls: 1, tokens: 10, micros }
    }

    #[test]
    fn a_clock_that_jumps_and_comes_back_finds_what_was_spent() {
        let policies = policies(&["budget.dollars_per_day=0.001"]);
        let (policy, mut spent) = (policies.general(), Spent::default());
        spent.add(policy, NOON, cost(900));
        spent.add(policy, NOON + DAY, cost(100));
        assert_eq!(spent.today(policy, NOON).micros, 900);
        assert_eq!(spent.fits(policy, NOON, cost(200)), Err(Exhausted { have: 900, limit: 1000 }));
        spent.add(policy, NOON, cost(50));
        assert_eq!((spent.today(policy, NOON).micros, spent.today(policy, NOON + DAY).micros), (950, 100));
        // A clock gone mad does not make it grow, nor does it keep it from starting afresh.
        (0..1000).for_each(|days| spent.add(policy, NOON + Span(DAY.0 * days), cost(1)));
        assert!(spent.days().count() <= 1 + OTHER_DAYS_MAX);
        assert!(spent.fits(policy, NOON + Span(DAY.0 * 2000), cost(1000)).is_ok());
    }

    #[test]
    fn the_smallest_budget_is_one_and_what_is_lost_counts() {
        let policies = policies(&["budget.dollars_per_day=0.0000001"]);
        let (policy, mut spent) = (policies.general(), Spent::default());
        assert!(spent.fits(policy, NOON, cost(2)).is_err());
        spent.reserve(7, cost(30));
        spent.reserve(8, Cost { calls: 3, ..cost(4) });
        spent.settle_lost(policy, NOON);
        let today = spent.today(policy, NOON);
        assert_eq!((today.calls, today.tokens, today.micros), (4, 20, 34));
        spent.settle(policy, NOON, 7, Some(cost(1)));
        assert_eq!(spent.today(policy, NOON), today, "settled once");
    }

    #[test]
    fn what_was_written_down_before_is_read() {
        let old = r#"{"day": 5, "calls": 2, "tokens": 30, "micros": 9, "reserved": [{"serial": 4, "tokens": 1, "micros": 2}]}"#;
        let spent: Spent = serde_json::from_str(old).unwrap();
        assert_eq!(spent.days().collect::<Vec<_>>(), [(5, Cost { calls: 2, tokens: 30, micros: 9 })]);
        assert_eq!(spent.reserved().collect::<Vec<_>>(), [(4, Cost { calls: 1, tokens: 1, micros: 2 })]);
    }
}
