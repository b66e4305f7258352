//! What operators look at.

pub mod metrics;
mod ready;

pub use self::metrics::{install, keep_up};
pub use self::ready::ready_text;
