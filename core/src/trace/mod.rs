//! The story of one decision, silence too, as data.

mod closed;
mod learnt;
mod story;
mod unheard;

pub use closed::Closed;
pub use learnt::{Bar, Features};
pub use story::{Asked, Cause, Outcome, Stage, Trace};
pub use unheard::Unheard;

pub use crate::types::Response;
