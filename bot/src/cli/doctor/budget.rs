//! What was spent today, and which prices are only estimated.

use std::path::Path;

use aizuchi_core::settings::PriceBasis;

use super::Patient;
use crate::check::Check;
use crate::cli::store::Opened;
use crate::commands::answers::{cost, price};
use crate::journal::spent_today;
use crate::language::Language;
use crate::runtime::{Clock, EstimatedPrice, estimated};
use crate::stores::Folder;

const PART: &str = "budget";

pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    let spent = spent(patient).into_iter();
    spent.chain(estimated(patient.policies).iter().map(|estimated| of_price(estimated, patient))).collect()
}

/// Of a store that cannot be read another check tells.
fn spent(patient: &Patient<'_>) -> Option<Check> {
    let database = Folder::database_in(Path::new(&patient.store.folder));
    if !database.exists() {
        return None;
    }
    let opened = Opened::new(&database).ok()?;
    let spent = opened.wait(spent_today(&opened.stores, patient.policies, Clock::Wall.now())).ok()?;
    let told =
        format!("spent today in all rooms: {}", cost(spent, patient.settings.budget.of_all_rooms(), Language::ENGLISH));
    Some(Check::ok(PART, told))
}

fn of_price(estimated: &EstimatedPrice, patient: &Patient<'_>) -> Check {
    let EstimatedPrice { model, price: of, basis } = estimated;
    let dearest = match basis {
        PriceBasis::DearestOfProvider => "the dearest of its provider",
        PriceBasis::DearestOfAll | PriceBasis::Listed | PriceBasis::Home => "the dearest of all",
    };
    let told = format!("no price is listed for {model}: it counts as {}, {dearest}", price(*of));
    let mut budgets = patient.policies.all().map(|policy| &policy.settings.budget);
    let counts = budgets.any(|budget| budget.dollars_per_day > 0.0 || budget.total_dollars_per_day > 0.0);
    match counts {
        true => Check::warn(PART, told, format!("set prices.\"{model}\" = [dollars per million tokens in, out]")),
        false => Check::ok(PART, told),
    }
}
