//! What all rooms spent together. A shell adds it up, and checks here before it makes a call; if nothing is left, the room
//! that wanted the call gets [`crate::Input::Refused`], so that it decides the same alone as among others.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::input::TotalSpent;
use crate::policy::Policies;
use crate::room::{Cost, Exhausted, Spent};
use crate::types::{CallId, NameMap, RoomId, Time};

/// The sum over all rooms, of all engines. Days are the calendar days of each room.
#[derive(Clone, Debug, Default)]
pub struct TotalBudget {
    rooms: NameMap<RoomId, RoomSpending>,
    days: BTreeMap<i64, Cost>,
    in_flight: Cost,
}

/// What is known of one room.
#[derive(Clone, Debug, Default)]
struct RoomSpending {
    days: Vec<(i64, Cost)>,
    /// Calls in flight, by their number, with their reservations.
    in_flight: Vec<(u64, Cost)>,
}

impl TotalBudget {
    /// The sum as somebody else added it up, by day.
    pub fn of_days(days: impl IntoIterator<Item = (i64, Cost)>) -> TotalBudget {
        TotalBudget { days: days.into_iter().collect(), ..TotalBudget::default() }
    }

    /// Adds an engine in the state in which it stopped: what was in flight then may have been paid for.
    pub fn take_over(&mut self, engine: &Engine) {
        for (room, spent) in engine.spent_by_room() {
            let lost: Vec<(u64, Cost)> = spent.reserved().collect();
            self.in_flight = lost.iter().fold(self.in_flight, |sum, (_, cost)| sum + *cost);
            self.rooms.entry(room.clone()).or_default().in_flight.extend(lost);
            self.book(room, spent);
        }
    }

    /// Notes what a room has spent so far, and which of its calls have ended.
    pub fn book(&mut self, room: &RoomId, spent: &Spent) {
        let booked = self.rooms.entry(room.clone()).or_default();
        for (day, cost) in booked.days.drain(..) {
            let sum = self.days.entry(day).or_default();
            *sum = *sum - cost;
        }
        for (day, cost) in spent.days().filter(|(_, cost)| !cost.is_zero()) {
            *self.days.entry(day).or_default() += cost;
            booked.days.push((day, cost));
        }
        self.days.retain(|_, cost| !cost.is_zero());
        let is_over = |serial: u64| spent.reserved().all(|(other, _)| other != serial);
        booked.in_flight.retain(|(serial, cost)| {
            let over = is_over(*serial);
            if over {
                self.in_flight = self.in_flight - *cost;
            }
            !over
        });
    }

    /// Admits a call and reserves its cost until its room has settled it, or says why it cannot be made.
    pub fn admit(&mut self, policies: &Policies, now: Time, call: &CallId, cost: Cost) -> Result<(), TotalSpent> {
        let limit = policies.general().settings.budget.of_all_rooms();
        let spent = self.on(policies.for_room(call.room.as_str()).zone.day(now));
        check_total(spent, self.in_flight, cost, limit)?;
        self.in_flight += cost;
        self.rooms.entry(call.room.clone()).or_default().in_flight.push((call.serial, cost));
        Ok(())
    }

    /// What was spent today, by the calendar of all rooms.
    pub fn today(&self, policies: &Policies, now: Time) -> Cost {
        self.on(policies.general().zone.day(now))
    }

    fn on(&self, day: i64) -> Cost {
        self.days.get(&day).copied().unwrap_or_default()
    }
}

/// Whether a call may be made when all rooms have spent this much today and have this much in flight.
pub fn check_total(spent: Cost, in_flight: Cost, cost: Cost, limit: Cost) -> Result<(), TotalSpent> {
    (spent + in_flight).fits(cost, limit).map_err(|Exhausted { have, limit: reached }| {
        // What is in flight may turn out cheaper, unlike what is already spent.
        let for_today = spent.fits(Cost::LEAST, limit).is_err();
        TotalSpent { have, limit: reached, for_today }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Layers;
    use crate::types::Span;

    const NOON: Time = Time(1_775_563_200_000);
    const DAY: Span = Span::minutes(24 * 60);

    fn policies() -> Policies {
        let mut layers = Layers::default();
        layers.add_assignment("budget.total_dollars_per_day=0.001");
        layers.resolve(&|_| None).unwrap()
    }

    fn cost(micros: u64) -> Cost {
        Cost { calls: 1, tokens: 10, micros }
    }

    fn call(room: &str, serial: u64) -> CallId {
        CallId { room: RoomId::new(room), serial }
    }

    #[test]
    fn what_is_in_flight_counts_until_its_room_has_settled_it() {
        let (policies, mut total, mut spent) = (policies(), TotalBudget::default(), Spent::default());
        let policy = policies.general();
        spent.reserve(1, cost(800));
        total.book(&RoomId::new("kitchen"), &spent);
        assert_eq!(total.admit(&policies, NOON, &call("kitchen", 1), cost(800)), Ok(()));
        let refused = total.admit(&policies, NOON, &call("garden", 1), cost(300));
        assert_eq!(refused, Err(TotalSpent { have: 800, limit: 1000, for_today: false }), "it may turn out cheaper");
        spent.settle(policy, NOON, 1, Some(cost(100)));
        total.book(&RoomId::new("kitchen"), &spent);
        assert_eq!(total.today(&policies, NOON), cost(100));
        assert_eq!(total.admit(&policies, NOON, &call("garden", 2), cost(900)), Ok(()));
        // Settled for as much as was set aside: nothing is left for anybody, whatever it costs.
        let mut garden = Spent::default();
        garden.add(policy, NOON, cost(900));
        total.book(&RoomId::new("garden"), &garden);
        let spent_for_today = Err(TotalSpent { have: 1000, limit: 1000, for_today: true });
        assert_eq!(total.admit(&policies, NOON, &call("attic", 1), cost(1)), spent_for_today);
        let free = Cost { calls: 1, tokens: 10, micros: 0 };
        assert_eq!(total.admit(&policies, NOON, &call("attic", 2), free), Ok(()), "what costs nothing goes on");
    }

    #[test]
    fn a_clock_that_jumps_and_comes_back_finds_the_sum() {
        let (policies, mut total) = (policies(), TotalBudget::default());
        let policy = policies.general();
        for (room, micros) in [("kitchen", 600), ("garden", 400)] {
            let mut spent = Spent::default();
            spent.add(policy, NOON, cost(micros));
            total.book(&RoomId::new(room), &spent);
            assert_eq!(total.admit(&policies, NOON + DAY, &call(room, 1), cost(1)), Ok(()), "another day");
            spent.add(policy, NOON + DAY, cost(5));
            total.book(&RoomId::new(room), &spent);
        }
        assert_eq!((total.today(&policies, NOON).micros, total.today(&policies, NOON + DAY).micros), (1000, 10));
        assert!(total.admit(&policies, NOON, &call("attic", 1), cost(1)).is_err());
    }
}
