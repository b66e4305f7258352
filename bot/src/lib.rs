//! aizuchi does: it reads files, runs the engine and shows what came of it. What to do is decided in `aizuchi-core`.

pub mod cli;
pub mod config;
pub mod replay;
pub mod transcript;
