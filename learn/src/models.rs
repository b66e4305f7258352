//! Both models that the core has compiled in, as they are trained and measured together.

use aizuchi_core::conversations::LinkModel;
use aizuchi_core::likelihood::JoinModel;

#[derive(Clone, Debug)]
pub struct Models {
    pub link: LinkModel,
    pub join: JoinModel,
}

impl Models {
    pub fn built_in() -> Models {
        Models { link: LinkModel::built_in().clone(), join: JoinModel::built_in().clone() }
    }

    /// Know nothing yet: what training begins with.
    pub fn empty() -> Models {
        Models { link: LinkModel::empty(), join: JoinModel::empty() }
    }
}
