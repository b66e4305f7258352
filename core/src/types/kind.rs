//! How much is said.

use serde::{Deserialize, Serialize};

/// The three sizes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Reaction,
    Acknowledgement,
    Full,
}
