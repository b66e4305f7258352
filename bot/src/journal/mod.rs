//! The journal: everything that happened, in the order in which it was handled, and the decisions about it.

mod about_person;
mod dropped;
mod edited;
mod engines;
mod forget;
mod found;
mod name_use;
mod opted_out;
pub mod progress_file;
mod quoted;
pub mod read;
mod recent;
pub mod record;
mod recover;
mod spent;
pub mod traces;
mod trail;
mod withdrawn;
mod write;

pub use about_person::StoredAboutPerson;
pub use engines::Engines;
pub use forget::{Footprints, without_person};
pub use name_use::NameUse;
pub use progress_file::LostRecords;
pub use read::{DamagedRecord, Records};
pub use recent::{KnownMessage, recent_messages};
pub use recover::{Recovered, RecoveredFrom, recover};
pub use spent::{spent_today, spent_today_by_room};
pub use traces::Traces;
pub use trail::{OwnMessage, PersonTrail};
pub use write::{Journal, ShardState};

pub use crate::ports::{JournalEntry, Record};

#[cfg(test)]
pub(crate) mod tests;
