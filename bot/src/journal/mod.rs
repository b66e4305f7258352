//! The journal: everything that happened, in the order in which it was handled, and what was decided about it.

pub mod read;
pub mod record;
pub mod traces;

pub use read::{Damaged, Record, Records};
pub use traces::Traces;
