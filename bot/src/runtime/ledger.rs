//! Adds up what all rooms spend, over all engines, and checks every model call first: a call that the budget over all rooms
//! does not allow is not made, and the room gets an input that says so.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aizuchi_core::effect::{Effect, Usage};
use aizuchi_core::room::{Cost, Spent};
use aizuchi_core::settings::{Price, PriceBasis, Pricing};
use aizuchi_core::total::TotalBudget;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::usage::TotalSpent;
use aizuchi_core::{Engine, Input, Policies, Time};

#[derive(Debug)]
pub struct Ledger(Mutex<LedgerState>);

#[derive(Debug)]
struct LedgerState {
    total: TotalBudget,
    policies: Arc<Policies>,
    /// Models for which a warning about an estimated price was logged.
    warned: HashSet<String>,
    /// The value the gauges show.
    shown: Option<Cost>,
    /// The limit that was last reached, so that it is logged once.
    reached: Option<u64>,
}

/// What all rooms spent today, and at which prices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TotalView {
    pub spent: Cost,
    /// Zero is no limit.
    pub limit: Cost,
    /// The limit of the room in which this is shown; zero is no limit.
    pub room_limit: Cost,
    pub estimated: Vec<EstimatedPrice>,
}

/// The assumed price of a model that is not in the price list.
#[derive(Clone, Debug, PartialEq)]
pub struct EstimatedPrice {
    pub model: String,
    pub price: Price,
    pub basis: PriceBasis,
}

/// Which rooms' spending an input may change.
pub enum SpendingScope {
    Room(RoomId),
    Everybody,
    /// The rooms of its effects.
    OfEffects,
}

impl SpendingScope {
    pub fn of(input: &Input) -> SpendingScope {
        match (input, input.room()) {
            (_, Some(room)) => SpendingScope::Room(room.clone()),
            (Input::Resumed | Input::ClockSet(_), None) => SpendingScope::Everybody,
            (_, None) => SpendingScope::OfEffects,
        }
    }
}

/// The serial for work that is paid for without a call of the engine.
pub const OUTSIDE: u64 = 0;

impl Ledger {
    /// Adds up what the engines spent before, including what was in flight when they stopped.
    pub fn new(engines: &[Engine], policies: &Policies) -> Ledger {
        let mut total = TotalBudget::default();
        engines.iter().for_each(|engine| total.take_over(engine));
        let policies = Arc::new(policies.clone());
        let mut book = LedgerState { total, policies, warned: HashSet::new(), shown: None, reached: None };
        book.warn_of_estimates();
        Ledger(Mutex::new(book))
    }

    fn book_of_all(&self) -> MutexGuard<'_, LedgerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// New settings apply from now on.
    pub fn set_policies(&self, policies: &Policies) {
        let mut book = self.book_of_all();
        book.policies = Arc::new(policies.clone());
        (book.shown, book.reached) = (None, None);
        book.warn_of_estimates();
    }

    /// Books what an input has changed.
    pub fn book(&self, engine: &Engine, now: Time, whose: &SpendingScope, effects: &[Effect]) {
        let mut book = self.book_of_all();
        let mut note = |room: &RoomId, spent: &Spent| book.total.book(room, spent);
        match whose {
            SpendingScope::Everybody => engine.spent_by_room().for_each(|(room, spent)| note(room, spent)),
            SpendingScope::Room(room) => engine.spent(room).into_iter().for_each(|spent| note(room, spent)),
            SpendingScope::OfEffects => {
                for room in effects.iter().map(Effect::room) {
                    engine.spent(room).into_iter().for_each(|spent| note(room, spent));
                }
            }
        }
        book.show(now);
    }

    /// The input a room gets instead of an answer, if no budget is left for this call.
    pub fn refuse(&self, engine: &Engine, now: Time, effect: &Effect) -> Option<Input> {
        let call = effect.call()?;
        let cost = engine.reserved(call)?;
        let mut book = self.book_of_all();
        let why = book.total.admit(engine.policies(), now, call, cost).err()?;
        book.note_refusal(&why);
        Some(Input::Refused(call.clone(), why))
    }

    /// A call was refused by the store that adds up for all processes.
    #[cfg(feature = "cluster")]
    pub fn note_refusal(&self, why: &TotalSpent) {
        self.book_of_all().note_refusal(why);
    }

    /// What all rooms spent by day, as added up for all processes.
    #[cfg(feature = "cluster")]
    pub fn set_days(&self, days: Vec<(i64, Cost)>, now: Time) {
        let mut book = self.book_of_all();
        book.total = TotalBudget::of_days(days);
        book.show(now);
    }

    /// Whether a room and all rooms together can pay for this; if so, the amount is reserved until the bill is booked.
    pub fn can_pay(&self, engine: &Engine, now: Time, room: &RoomId, usage: &Usage) -> bool {
        let cost = Cost::from(usage);
        let policy = engine.policies().for_room(room.as_str());
        let here = engine.spent(room).is_none_or(|spent| spent.fits(policy, now, cost).is_ok());
        let call = CallId { room: room.clone(), serial: OUTSIDE };
        here && self.book_of_all().total.admit(engine.policies(), now, &call, cost).is_ok()
    }

    /// The total as shown in a room.
    pub fn today(&self, room: &RoomId, now: Time) -> TotalView {
        let book = self.book_of_all();
        let spent = book.total.today(&book.policies, now);
        let limit = book.policies.general().settings.budget.of_all_rooms();
        let room_limit = book.policies.for_room(room.as_str()).settings.budget.of_room();
        TotalView { spent, limit, room_limit, estimated: estimated_prices(&book.policies) }
    }
}

impl LedgerState {
    fn note_refusal(&mut self, why: &TotalSpent) {
        if why.for_today && self.reached.replace(why.limit) != Some(why.limit) {
            tracing::warn!(have = why.have, limit = why.limit, "the daily budget of all rooms is spent");
        }
        metrics::counter!("aizuchi_calls_refused_total").increment(1);
    }

    fn show(&mut self, now: Time) {
        let spent = self.total.today(&self.policies, now);
        if self.shown.replace(spent) == Some(spent) {
            return;
        }
        let limit = self.policies.general().settings.budget.of_all_rooms();
        let units = [
            ("calls", spent.calls, limit.calls),
            ("tokens", spent.tokens, limit.tokens),
            ("micros", spent.micros, limit.micros),
        ];
        for (unit, spent, limit) in units {
            metrics::gauge!("aizuchi_spent_today", "unit" => unit).set(spent as f64);
            metrics::gauge!("aizuchi_budget_per_day", "unit" => unit).set(limit as f64);
        }
    }

    fn warn_of_estimates(&mut self) {
        for EstimatedPrice { model, price, basis } in estimated_prices(&self.policies) {
            if self.warned.insert(model.clone()) {
                let counts_as = match basis {
                    PriceBasis::DearestOfProvider => "the most expensive of its provider",
                    PriceBasis::DearestOfAll | PriceBasis::Listed | PriceBasis::Home => "the most expensive of all",
                };
                let Price { input, output, .. } = price;
                tracing::warn!(model, input, output, counts_as, "the model has no listed price; set it in [prices]");
            }
        }
    }
}

/// The models in use whose price is not listed.
pub fn estimated_prices(policies: &Policies) -> Vec<EstimatedPrice> {
    let priced = policies.priced_models().into_iter();
    let estimated = priced.filter(|(_, pricing)| pricing.basis.is_estimate());
    estimated.map(|(model, Pricing { price, basis })| EstimatedPrice { model, price, basis }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use aizuchi_core::settings::Layers;

    #[test]
    fn a_room_is_shown_its_own_limit() {
        let mut layers = Layers::default();
        let own = "[channel.\"web:garden\".budget]\ndollars_per_day = 0.5\n[budget]\ntotal_dollars_per_day = 2.0";
        layers.add_file("aizuchi.toml", own);
        let ledger = Ledger::new(&[], &layers.resolve(&|_| None).unwrap());
        let limits = |room: &str| {
            let view = ledger.today(&RoomId::new(room), Time(0));
            (view.room_limit.micros, view.limit.micros)
        };
        assert_eq!(limits("web:garden"), (500_000, 2_000_000));
        assert_eq!(limits("web:lobby"), (0, 2_000_000));
    }
}
