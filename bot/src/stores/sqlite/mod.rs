//! The SQLite adapter: one file in the data folder, written by one task, read by many. All SQL is here.

mod database;
mod error;
mod migrations;
mod opened_file;

pub use database::{Database, Settled, open_for_reading, within_savepoint};
