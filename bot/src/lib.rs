//! aizuchi does: it reads files, runs the engine and shows what came of it. What to do is decided in `aizuchi-core`.
#![warn(clippy::too_many_lines)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::wildcard_enum_match_arm))]

#[cfg(test)]
mod captured_log;
pub mod check;
pub mod cli;
pub mod cluster;
pub mod commands;
pub mod config;
pub mod console;
pub mod features;
pub mod journal;
pub mod keeper;
pub mod language;
pub mod learnt;
pub mod lookalike;
pub mod memory;
pub mod meter;
pub mod models;
pub mod platforms;
pub mod ports;
pub mod prompts;
pub mod redacted;
pub mod replay;
pub mod runtime;
pub mod schedule;
pub mod sentences;
pub mod stores;
#[cfg(test)]
mod tables;
pub mod tls;
pub mod tools;
