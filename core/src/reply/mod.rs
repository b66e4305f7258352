//! 5. Answering: which size, which emoji, which part of a model's words is an answer at all, and long answers in parts.

mod chunks;
mod clean;
mod kind;
mod repeat;
mod silence;
mod split;

pub use chunks::chunks;
pub use clean::{clean, without_controls};
pub(crate) use kind::{emoji_for, kind_for};
pub use repeat::is_repeat;
pub use silence::is_silence;
pub use split::{split, split_each};
