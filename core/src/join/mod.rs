//! How likely somebody who is not in a conversation joins it at this message.
//!
//! A small learnt model over the features of the message, its conversation, its speakers and the pace of the room;
//! each feature's part in the answer can be told.

mod because;
mod features;
pub mod steps;

pub use because::{Reason, because, reasons};
pub(crate) use features::values;
pub use features::{FEATURES, Values};

use crate::strands::Models;
use crate::trees::{Feature, exp};

/// What a feature did to the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    pub feature: &'static Feature,
    pub value: u8,
    /// In log-odds: positive where it made joining more likely than it is on the whole.
    pub log_odds: f32,
}

impl Contribution {
    /// By how much it multiplied the odds.
    pub fn factor(&self) -> f32 {
        exp(self.log_odds)
    }
}

static TABLE: [Feature; FEATURES.len()] = FEATURES;

/// What each feature did, the strongest first.
pub fn contributions(values: &Values, models: &Models) -> Vec<Contribution> {
    let told = TABLE.iter().zip(values).zip(parts(values, models));
    let mut all: Vec<Contribution> =
        told.map(|((feature, value), log_odds)| Contribution { feature, value: *value, log_odds }).collect();
    all.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
    all
}

/// The same by feature, in log-odds.
fn parts(values: &Values, models: &Models) -> [f32; FEATURES.len()] {
    let mut parts = [0.0; FEATURES.len()];
    models.join.contributions(values, &mut parts);
    parts
}
