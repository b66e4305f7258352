//! What is remembered, kept: in the memory of this process, or in the data folder; each layer where the settings want it.

pub mod apply;
mod layered;
mod ram;
pub mod shelf;

pub use layered::{check, open};
pub use ram::Ram;
pub use shelf::Kept;

pub use crate::stores::sqlite::Local;

#[cfg(test)]
mod tests;
