//! Models: who judges and writes, where they are asked, and a built-in one that needs nobody.

mod ask;
mod choose;
mod embed;
#[cfg(feature = "local-embeddings")]
mod local;
pub mod offline;
pub mod providers;
mod remote;
mod retry;
mod thinking;
mod trouble;
mod turns;

pub use ask::{Models, Unusable, check, try_call};
pub use choose::{Choice, choose};
pub use embed::{Embeddings, embedder, wanted_embedder};
pub use providers::OFFLINE;
