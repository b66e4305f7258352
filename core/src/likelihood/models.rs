//! What was learnt of who joins where, compiled in.

use std::sync::LazyLock;

use super::features::FEATURES;
use super::steps::{self, STEPS};
use crate::trees::Trees;

#[derive(Clone, Debug)]
pub struct JoinModel {
    /// Whether somebody will join.
    pub trees: Trees,
    /// Of a thousand messages of people, how many were how likely in the talk it was learnt from.
    pub usual: [f32; STEPS],
}

static BUILT_IN: LazyLock<JoinModel> = LazyLock::new(|| JoinModel {
    trees: Trees::parse(include_str!("../../models/join.txt"), &FEATURES).expect("the model of joining is well formed"),
    usual: steps::parse(include_str!("../../models/usual.txt")).expect("the usual likelihoods are well formed"),
});

impl JoinModel {
    pub fn built_in() -> &'static JoinModel {
        &BUILT_IN
    }

    /// Knows nothing yet: what training begins with.
    pub fn empty() -> JoinModel {
        JoinModel { trees: Trees::empty(), usual: [1000.0 / STEPS as f32; STEPS] }
    }
}
