//! What is remembered, kept: in the memory of this process, in the store of everything else, or elsewhere; each layer where the
//! settings want it.

pub mod apply;
mod keep;
mod layered;
mod ram;
pub mod search;
pub mod table;
mod ties;

pub use layered::{is_elsewhere, open, try_out};
pub use ram::Ram;
pub use table::StoredLayers;

pub use crate::stores::sqlite::SqliteMemory;

use std::sync::Arc;

use aizuchi_core::settings::Layers;

use crate::ports::{BoxFuture, MemoryStore, StoreBackend, StoreKind};
use crate::stores;

/// Changes of an import that are written together. What it takes to undo a write is kept while it lasts, and slows it down.
pub const IMPORTED_TOGETHER: usize = 2_000;

/// A store that layers of memory can be in.
pub struct MemoryStoreSpec {
    /// What the settings call it.
    pub name: &'static str,
    /// Where everything else is in a store of this kind, it is the same one.
    pub same_as: Option<StoreKind>,
    /// What has to be set before it can be used, if anything.
    pub missing: fn(&Layers) -> Option<String>,
    /// Writes something and reads it, and leaves nothing of it. `None` where it is tried out with everything else.
    pub try_out: for<'a> fn(&'a Layers) -> TryingMemory<'a>,
    /// Opens it for these layers. `Err` says what is missing.
    pub open: for<'a> fn(MemoryContext<'a>, StoredLayers) -> OpeningMemory<'a>,
}

/// What was found, as people are told.
pub type TryingMemory<'a> = BoxFuture<'a, Result<Option<String>, String>>;

pub type OpeningMemory<'a> = BoxFuture<'a, Result<Arc<dyn MemoryStore>, String>>;

/// What stores of memory are opened with.
#[derive(Clone, Copy)]
pub struct MemoryContext<'a> {
    /// The store of everything else.
    pub backend: &'a dyn StoreBackend,
    pub layers: &'a Layers,
    pub user: MemoryUser,
}

/// Who waits for what is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryUser {
    /// People who talk: an answer is better without memory than late.
    Conversation,
    CommandLine,
}

/// The store of everything else, which is durable and always there.
const LOCAL: MemoryStoreSpec = MemoryStoreSpec {
    name: "local",
    same_as: None,
    missing: nothing_missing,
    try_out: tried_with_the_rest,
    open: |context, kept| Box::pin(std::future::ready(Ok(context.backend.memory(kept)))),
};

/// The stores of memory that there are; the first is the one of everything else.
pub const MEMORY_STORES: &[MemoryStoreSpec] =
    &[LOCAL, ram::SPEC, stores::sqlite::MEMORY, stores::POSTGRES_MEMORY, stores::firestore::MEMORY];

/// For a store that is always there.
pub fn nothing_missing(_: &Layers) -> Option<String> {
    None
}

/// For a store that is nowhere else than everything else, or in this process.
pub fn tried_with_the_rest(_: &Layers) -> TryingMemory<'_> {
    Box::pin(std::future::ready(Ok(None)))
}

#[cfg(test)]
pub mod tests;
