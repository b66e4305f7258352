//! Long-term memory is stored in the RAM of this process, in the main store, or elsewhere; each layer where the settings
//! put it.

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

/// How many changes of an import are written together. A longer transaction keeps more undo data, which slows it down.
pub const IMPORTED_TOGETHER: usize = 2_000;

/// A store that can hold layers of memory.
pub struct MemoryStoreSpec {
    /// Its name in the settings.
    pub name: &'static str,
    /// If the main store is of this kind, both are the same.
    pub same_as: Option<StoreKind>,
    /// Which required setting is missing, if any.
    pub missing: fn(&Layers) -> Option<String>,
    /// Writes and reads a test entry and removes it. `None` if the store is tested as part of the main store.
    pub try_out: for<'a> fn(&'a Layers) -> TryingMemory<'a>,
    /// Opens it for these layers. `Err` says what is missing.
    pub open: for<'a> fn(MemoryContext<'a>, StoredLayers) -> OpeningMemory<'a>,
}

/// The result, for display.
pub type TryingMemory<'a> = BoxFuture<'a, Result<Option<String>, String>>;

pub type OpeningMemory<'a> = BoxFuture<'a, Result<Arc<dyn MemoryStore>, String>>;

/// The arguments for opening a memory store.
#[derive(Clone, Copy)]
pub struct MemoryContext<'a> {
    /// The main store.
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

/// The main store, which is durable and always available.
const LOCAL: MemoryStoreSpec = MemoryStoreSpec {
    name: "local",
    same_as: None,
    missing: nothing_missing,
    try_out: tried_with_the_rest,
    open: |context, kept| Box::pin(std::future::ready(Ok(context.backend.memory(kept)))),
};

/// All memory stores; the first is the main store.
pub const MEMORY_STORES: &[MemoryStoreSpec] =
    &[LOCAL, ram::SPEC, stores::sqlite::MEMORY, stores::POSTGRES_MEMORY, stores::firestore::MEMORY];

/// For a store that is always available.
pub fn nothing_missing(_: &Layers) -> Option<String> {
    None
}

/// For a store that is part of the main store, or in this process.
pub fn tried_with_the_rest(_: &Layers) -> TryingMemory<'_> {
    Box::pin(std::future::ready(Ok(None)))
}

#[cfg(test)]
pub mod tests;
