//! The learnt models of who joins where and whose turn it is, compiled in.

use std::sync::LazyLock;

use super::features::FEATURES;
use super::steps::{self, STEPS};
use super::turn;
use crate::trees::{AnswerRows, PreparedTrees, Trees, probability};

#[derive(Clone, Debug)]
pub struct JoinModel {
    /// Whether somebody will join.
    pub trees: PreparedTrees<AnswerRows>,
    /// Of a thousand messages of people, how many were how likely in the training data.
    pub usual: [f32; STEPS],
}

static BUILT_IN: LazyLock<JoinModel> = LazyLock::new(|| JoinModel {
    trees: Trees::parse(include_str!("../../models/join.txt"), &FEATURES)
        .expect("the model of joining is well formed")
        .into(),
    usual: steps::parse(include_str!("../../models/usual.txt")).expect("the usual likelihoods are well formed"),
});

impl JoinModel {
    pub fn built_in() -> &'static JoinModel {
        &BUILT_IN
    }

    /// An empty model, with which training begins.
    pub fn empty() -> JoinModel {
        JoinModel { trees: Trees::empty().into(), usual: [1000.0 / STEPS as f32; STEPS] }
    }
}

/// Whether a participant of a conversation speaks next in it.
#[derive(Clone, Debug)]
pub struct TurnModel {
    pub trees: PreparedTrees<AnswerRows>,
}

static TURN: LazyLock<TurnModel> = LazyLock::new(|| TurnModel {
    trees: Trees::parse(include_str!("../../models/turn.txt"), &turn::FEATURES)
        .expect("the model of turns is well formed")
        .into(),
});

impl TurnModel {
    pub fn built_in() -> &'static TurnModel {
        &TURN
    }

    pub fn likelihood(&self, values: &turn::TurnValues) -> f32 {
        probability(self.trees.calibrated(self.trees.sum(values)))
    }

    /// An empty model, with which training begins.
    pub fn empty() -> TurnModel {
        TurnModel { trees: Trees::empty().into() }
    }
}
