//! Where things are kept. The adapters serve the ports of stores; nothing else knows how they keep things.

mod error;
mod folder;
mod full_disk;
pub mod sqlite;

pub use error::StoreError;
pub use folder::Folder;
pub use full_disk::wait_for_room;
pub use sqlite::{Database, Settled, open_for_reading, within_savepoint};
