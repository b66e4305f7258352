//! What is remembered, kept: in the memory of this process, or in the data folder; each layer where the settings want it.

mod apply;
mod layered;
mod ram;
mod search;
mod shelf;
mod sqlite;
mod table;

pub use layered::{check, open};
pub use ram::Ram;
pub use shelf::Kept;
pub use sqlite::{Local, Reading};

#[cfg(test)]
mod tests;
