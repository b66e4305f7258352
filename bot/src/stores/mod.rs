//! Where things are kept: one SQLite file in the data folder, written by one task, read by many.

mod error;
mod folder;
mod full_disk;
mod migrations;
mod opened_file;
mod sqlite;

pub use error::StoreError;
pub use folder::Folder;
pub use full_disk::wait_for_room;
pub use sqlite::{Database, Settled, open_for_reading, within_savepoint};
