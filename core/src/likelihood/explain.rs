//! What each feature did to a likelihood.

use super::features::{FEATURES, Values};
use super::models::JoinModel;
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
pub(crate) fn contributions_of(values: &Values, parts: &PartValues) -> Vec<Contribution> {
    let told = TABLE.iter().zip(values).zip(*parts);
    let mut all: Vec<Contribution> =
        told.map(|((feature, value), log_odds)| Contribution { feature, value: *value, log_odds }).collect();
    all.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
    all
}

/// The same by a model.
#[cfg(test)]
pub(crate) fn contributions(values: &Values, model: &JoinModel) -> Vec<Contribution> {
    contributions_of(values, &parts(values, model))
}

/// What each feature did, in log-odds.
pub(crate) type PartValues = [f32; FEATURES.len()];

pub(crate) fn parts(values: &Values, model: &JoinModel) -> PartValues {
    let mut parts = [0.0; FEATURES.len()];
    model.trees.contributions(values, &mut parts);
    parts
}
