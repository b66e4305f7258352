//! The journal: everything that happened, in the order in which it was handled, and what was decided about it.

mod engines;
mod forget;
mod known;
mod lately;
pub mod reached;
pub mod read;
pub mod record;
mod recover;
mod spent;
pub mod traces;
mod trail;
mod write;

pub use engines::Engines;
pub use forget::{Footprints, scrubbed};
pub use known::Known;
pub use lately::{Kept, lately};
pub use reached::Lost;
pub use read::{Damaged, Records};
pub use recover::{Recovered, RecoveredFrom, recover};
pub use spent::{spent_today, spent_today_by_room};
pub use traces::Traces;
pub use trail::Trail;
pub use write::{Journal, State};

pub use crate::ports::{Entry, Record};

#[cfg(test)]
pub(crate) mod tests;
