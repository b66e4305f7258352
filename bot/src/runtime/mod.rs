//! The loop that keeps the engine alive: what happens is written down, handled, and followed by what it leads to.

mod aliases;
mod batch;
mod clock;
mod deliver;
mod effects;
mod event_time;
mod events;
mod failure;
mod handle;
mod languages;
mod ledger;
mod priority_queue;
mod retention;
mod save;
mod shard;
mod start;

pub use aliases::PersonAliases;
pub use clock::{Clock, ClockJump, ClockReading, ManualClock, STEP_MAX};
#[cfg(feature = "cluster")]
pub use effects::{EffectRunner, note_decisions};
#[cfg(feature = "cluster")]
pub use event_time::EventTimes;
pub use events::EngineEvent;
pub use failure::{TaskFailure, panic_message};
pub use handle::{EngineHandle, ForgetJob, HandedOn, ShardRequest, ShuttingDown, StoreRequest, StoringError, shard_of};
#[cfg(feature = "cluster")]
pub use ledger::OUTSIDE;
pub use ledger::{EstimatedPrice, Ledger, TotalView, estimated_prices};
pub use priority_queue::{PriorityQueue, is_addressed};
pub use retention::RetentionClock;
#[cfg(feature = "cluster")]
pub use start::{Retention, sweep};
pub use start::{Runtime, RuntimeContext, recover_engines};
