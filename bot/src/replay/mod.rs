//! A recorded channel goes through the very engine that would have heard it live, in virtual time.

mod decisions;
mod differences;
mod memory;
mod oracle;
mod pairing;
mod recorded;
mod relive;
mod report;
mod run;
mod summary;
mod table;

pub use decisions::{decision, decision_for_page, write_decisions};
pub use differences::{Difference, Differences, StoredTraces};
pub use memory::{Remembered, Remembering};
pub use oracle::{Judge, Script, World};
pub use recorded::{Answers, Recorded};
pub use relive::{Check, Relived, relive};
pub use report::html;
pub use run::{Decided, OwnInLog, Replay, run};
pub use summary::Summary;
pub use table::{differences_table, figures, table};
