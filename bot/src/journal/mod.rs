//! The journal: everything that happened, in the order in which it was handled, and what was decided about it.

mod record;
mod recover;
mod traces;
mod write;

pub use recover::{Recovered, recover};
pub use traces::Traces;
pub use write::Journal;
