//! Models: judging and writing, the providers' addresses, and a built-in model that needs no network.

mod ask;
mod calls;
mod choose;
mod embed;
mod errors;
#[cfg(feature = "local-embeddings")]
mod local;
mod local_server;
pub mod offline;
pub mod providers;
mod queue;
mod remote;
mod retry;
mod thinking;

pub use ask::{Models, UnusableModel, check, try_call};
pub use choose::{ModelChoice, choose};
pub use embed::{Embeddings, embedder, wanted_embedder};
pub use local_server::{LocalModel, find_local_model};
pub use providers::OFFLINE;
