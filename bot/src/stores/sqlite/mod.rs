//! The SQLite adapter: one file in the data folder, written by one task, read by many. All SQL is here.

mod checkpoint;
mod connect;
mod copy;
mod damaged_file;
mod database;
mod decisions;
mod error;
mod files;
mod gaps;
mod inbox;
mod journal;
mod journal_index;
mod keeper;
mod marks;
mod memory;
mod migrations;
mod opened_file;
mod platform_stores;
mod posts;
mod record;
mod snapshots;
mod web;

use super::StoreError;

pub use damaged_file::DamagedFile;
pub use database::Database;
#[cfg(test)]
pub use memory::leave_facts_of_an_earlier_version;
pub use memory::{MEMORY, SqliteMemory};
pub use web::store_talk;
