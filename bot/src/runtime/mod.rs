//! The loop that keeps the engine alive: what happens is written down, handled, and followed by what it leads to.

mod batch;
mod clock;
mod deliver;
mod ears;
mod events;
mod failure;
mod follow;
mod lanes;
mod languages;
mod ledger;
mod same;
mod save;
mod shard;
mod stamp;
mod start;

pub use clock::{Clock, ClockJump, ClockReading, MadeClock, STEP_MAX};
pub use ears::{Ears, Forgetting, Gone, Heard, NotStored, Storing, shard_of};
pub use events::Event;
pub use failure::Failure;
pub use lanes::{Lanes, is_addressed};
pub use ledger::{EstimatedPrice, Ledger, TotalView, estimated};
pub use start::{Runtime, World};
