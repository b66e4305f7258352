//! The SQLite adapter: one file in the data folder, written by one task, read by many. All SQL is here.

mod database;
mod error;
mod inbox;
mod marks;
mod migrations;
mod opened_file;
mod platform_stores;
mod posts;
mod web;

use super::StoreError;

pub use database::{Database, Settled, open_for_reading, within_savepoint};
pub use web::{ListedRoom, listed as listed_rooms, storing as storing_web_change};
