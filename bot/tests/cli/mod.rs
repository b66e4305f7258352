//! What the command line promises, with the program itself. Where numbers matter, the presets that are specified to the
//! point are used: the default may be tuned.

mod program;
mod server;
mod store;
mod talk;

mod commands;
mod decisions;
mod doctor;
mod eval;
mod export;
#[cfg(feature = "firestore")]
mod firestore;
mod forgotten;
mod formats;
mod gaps;
mod init;
mod install;
mod journal;
mod judge;
mod learn;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod memory_import;
mod outputs;
mod promises;
mod prompt;
mod refusals;
mod reload;
mod report;
mod restore;
mod rooms;
mod settings;
mod stats;
mod summary;
mod terminal;
#[cfg(feature = "mcp")]
mod tools;
mod unheard;
mod why;
