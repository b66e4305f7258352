//! What the tests, benches and fuzz targets of several crates share. It knows nothing of the program but its protocols.

pub mod discord;
pub mod models;
pub mod slack;

pub mod firestore;
pub mod pgbouncer;
pub mod postgres;
pub mod restate;

pub mod network;

pub mod pages;
pub mod ports;
pub mod program;
pub mod visitor;

mod daemon;
pub mod folder;
pub mod logs;
pub mod suspicious_reader;
