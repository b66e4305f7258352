//! What a closed gate has found.

use serde::{Deserialize, Serialize};

/// What a closed gate found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed {
    pub have: u64,
    pub need: u64,
}
