//! Runs a recorded channel through the same engine that would have heard it live, in virtual time.

mod decisions;
mod differences;
mod memory;
mod missing_calls;
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
pub use memory::{CountingMemory, MemoryCounts};
pub use oracle::{Judge, ReplayOracle, Script};
pub use recorded::{RecordedAnswers, RecordedJudge};
pub use relive::{DecisionComparison, EmptiedRecords, ReliveResult, relive};
pub use report::html;
pub use run::{Decided, OwnPosts, Replay, run};
pub use summary::ReplaySummary;
pub use table::{differences_table, figures, table};
