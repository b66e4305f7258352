//! The record of one decision, including silence, as data.

mod chunks;
mod closed;
mod learnt;
mod story;
mod unheard;

pub use chunks::{ChunkProgress, RestStopped};
pub use closed::Closed;
pub use learnt::Bar;
pub use learnt::Features;
pub use learnt::Parts;
pub use story::QuestionTrace;
pub use story::Stage;
pub use story::ToolTrace;
pub use story::Trace;
pub use story::{Cause, Outcome};
pub use unheard::Unheard;

pub use crate::types::Response;
