//! What is remembered, kept: in the memory of this process, or in the data folder; each layer where the settings want it.

pub mod apply;
mod keep;
mod layered;
mod ram;
pub mod table;
mod ties;

pub use layered::open;
pub use ram::Ram;
pub use table::StoredLayers;

pub use crate::stores::sqlite::SqliteMemory;

use std::sync::Arc;

use crate::ports::Memory;
use crate::stores::Database;

/// Changes of an import that are written together. What it takes to undo a write is kept while it lasts, and slows it down.
pub const IMPORTED_TOGETHER: usize = 2_000;

/// A store that layers of memory can be in.
pub struct MemoryStoreSpec {
    /// What the settings call it.
    pub name: &'static str,
    /// Whether it keeps what it is given in files of the data folder.
    pub in_folder: bool,
    /// Opens it for these layers.
    pub open: fn(&Database, StoredLayers) -> Arc<dyn Memory>,
}

/// The stores of memory that there are; the first is durable and always there.
pub const MEMORY_STORES: &[MemoryStoreSpec] = &[crate::stores::sqlite::LOCAL_MEMORY, ram::SPEC];

#[cfg(test)]
mod tests;
