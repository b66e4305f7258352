//! A recorded channel goes through the very engine that would have heard it live, in virtual time.

mod decisions;
mod oracle;
mod report;
mod run;
mod summary;
mod table;

pub use decisions::{decision, write_decisions};
pub use oracle::{Judge, Script};
pub use report::html;
pub use run::{Decided, OwnInLog, Replay, run};
pub use summary::Summary;
pub use table::table;
