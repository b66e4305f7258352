//! What operators look at.

pub mod metrics;

pub use self::metrics::{install, keep_up};
