//! The loop that keeps the engine alive: what happens is written down, handled, and followed by what it leads to.

mod clock;
mod ears;
mod events;

pub use clock::Clock;
pub use ears::{Ears, Gone, Heard};
pub use events::Event;
