//! The story of one decision, silence too.

mod learnt;
mod response;
mod story;

pub use learnt::{Bar, Features};
pub use response::Response;
pub use story::{Asked, Cause, Outcome, Stage, Trace};
