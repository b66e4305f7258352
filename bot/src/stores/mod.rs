//! Where things are kept: one SQLite file in the data folder, written by one task, read by many.

mod folder;
mod migrations;
mod sqlite;

pub use folder::Folder;
pub use sqlite::{Database, StoreError, open_for_reading};
