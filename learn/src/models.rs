//! The models that are compiled into the core, as they are trained and measured together.

use aizuchi_core::conversations::LinkModel;
use aizuchi_core::likelihood::{JoinModel, TurnModel};

#[derive(Clone, Debug)]
pub struct Models {
    pub link: LinkModel,
    pub join: JoinModel,
    pub turn: TurnModel,
}

impl Models {
    pub fn built_in() -> Models {
        let (link, join, turn) = (LinkModel::built_in(), JoinModel::built_in(), TurnModel::built_in());
        Models { link: link.clone(), join: join.clone(), turn: turn.clone() }
    }

    /// Empty models, with which training begins.
    pub fn empty() -> Models {
        Models { link: LinkModel::empty(), join: JoinModel::empty(), turn: TurnModel::empty() }
    }
}
