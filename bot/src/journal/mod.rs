//! The journal: everything that happened, in the order in which it was handled, and what was decided about it.

mod traces;

pub use traces::{Traces, keep};
