//! How each feature changed a likelihood.

use super::features::{FEATURES, Values};
use super::models::JoinModel;
use crate::trees::{Feature, exp};

/// The effect of a feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contribution {
    pub feature: &'static Feature,
    pub value: u8,
    /// In log-odds: positive if it made joining more likely than average.
    pub log_odds: f32,
}

impl Contribution {
    /// The factor by which it multiplied the odds.
    pub fn factor(&self) -> f32 {
        exp(self.log_odds)
    }
}

static TABLE: [Feature; FEATURES.len()] = FEATURES;

/// The effects of the features, strongest first.
pub(crate) fn contributions_of(values: &Values, parts: &PartValues) -> Vec<Contribution> {
    let told = TABLE.iter().zip(values).zip(*parts);
    let mut all: Vec<Contribution> =
        told.map(|((feature, value), log_odds)| Contribution { feature, value: *value, log_odds }).collect();
    all.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
    all
}

/// The same according to a model.
#[cfg(test)]
pub(crate) fn contributions(values: &Values, model: &JoinModel) -> Vec<Contribution> {
    contributions_of(values, &parts(values, model))
}

/// The effect of each feature, in log-odds.
pub(crate) type PartValues = [f32; FEATURES.len()];

pub(crate) fn parts(values: &Values, model: &JoinModel) -> PartValues {
    let mut parts = [0.0; FEATURES.len()];
    model.trees.contributions(values, &mut parts);
    parts
}
