//! What was spent today, and which prices are only estimated.

use aizuchi_core::settings::PriceBasis;

use super::{DoctorContext, LiveChecks};
use crate::check::Check;
use crate::cli::store::{self, OpenStore};
use crate::commands::answers::{format_cost, format_price};
use crate::journal::spent_today;
use crate::language::Language;
use crate::ports::StoreKind;
use crate::runtime::{Clock, EstimatedPrice, estimated_prices};
use crate::stores::StoreLocation;

const PART: &str = "budget";

pub fn check(context: &DoctorContext<'_>) -> Vec<Check> {
    let spent = check_spending(context).into_iter();
    spent.chain(estimated_prices(context.policies).iter().map(|estimated| of_price(estimated, context))).collect()
}

/// A store that cannot be read is reported by another check.
fn check_spending(context: &DoctorContext<'_>) -> Option<Check> {
    let location = StoreLocation::of(&context.store).ok()?;
    let is_asked = context.calls == LiveChecks::Real || location.kind() == StoreKind::Sqlite;
    if !is_asked || !store::exists(&location) {
        return None;
    }
    let opened = OpenStore::new(&location).ok()?;
    let spent = opened.wait(spent_today(&opened.stores, context.policies, Clock::Wall.now())).ok()?;
    let told = format!(
        "spent today in all rooms: {}",
        format_cost(spent, context.settings.budget.of_all_rooms(), Language::ENGLISH)
    );
    Some(Check::ok(PART, told))
}

fn of_price(estimated: &EstimatedPrice, context: &DoctorContext<'_>) -> Check {
    let EstimatedPrice { model, price: of, basis } = estimated;
    let dearest = match basis {
        PriceBasis::DearestOfProvider => "the most expensive of its provider",
        PriceBasis::DearestOfAll | PriceBasis::Listed | PriceBasis::Home => "the most expensive of all",
    };
    let told = format!("no price is listed for {model}: it counts as {}, {dearest}", format_price(*of));
    let mut budgets = context.policies.all().map(|policy| &policy.settings.budget);
    let counts = budgets.any(|budget| budget.dollars_per_day > 0.0 || budget.total_dollars_per_day > 0.0);
    match counts {
        true => Check::warn(PART, told, format!("set prices.\"{model}\" = [dollars per million tokens in, out]")),
        false => Check::ok(PART, told),
    }
}
