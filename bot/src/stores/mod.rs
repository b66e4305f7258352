//! Where things are kept. The adapters serve the ports of stores; nothing else knows how they keep things.

mod error;
mod folder;
mod full_disk;
mod settings;
pub mod sqlite;

pub use error::StoreError;
pub use folder::DataFolder;
pub use full_disk::wait_for_room;
pub use settings::StoreSettings;
pub use sqlite::Database;

pub use crate::ports::FileCleanup;

/// An empty store for a test of this name.
#[cfg(test)]
pub fn scratch(name: &str) -> Database {
    let folder = std::env::temp_dir().join(format!("aizuchi-scratch-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("folders can be made");
    Database::open(&folder.join("aizuchi.db")).expect("a store can be made")
}
