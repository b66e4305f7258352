//! What those who run it look at.

pub mod metrics;

pub use self::metrics::{install, keep_up};
