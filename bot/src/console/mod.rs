//! What those who run it look at.

mod metrics;

pub use self::metrics::install;
