//! 5. Answering: which size, which emoji, and long answers in parts.

mod kind;
mod split;

pub use kind::{emoji_for, kind_for};
pub use split::split;
