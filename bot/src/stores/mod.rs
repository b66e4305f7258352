//! The stores. The adapters implement the store ports; nothing else knows how they store data.

mod availability;
#[cfg(test)]
mod conformance;
pub mod copy;
mod error;
pub mod firestore;
mod folder;
mod location;
#[cfg(feature = "postgres")]
pub mod postgres;
mod settings;
pub mod sqlite;
mod web_talk;

pub use availability::wait_until_available;
pub use error::StoreError;
pub use firestore::FirestoreSettings;
pub use folder::DataFolder;
pub use location::{OF_CLUSTER, PARTIAL_COPY, POSTGRES_MEMORY, StoreLocation, looks_like_address};
pub use settings::StoreSettings;
pub use sqlite::{DamagedFile, Database};

pub use crate::ports::FileCleanup;

/// An empty store for a test of this name, and its folder.
#[cfg(test)]
pub fn scratch(name: &str) -> (aizuchi_test_servers::folder::Scratch, Database) {
    let folder = aizuchi_test_servers::folder::Scratch::new(name);
    let database = Database::open(&folder.join("aizuchi.db")).expect("a store can be made");
    (folder, database)
}
