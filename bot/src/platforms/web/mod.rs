//! The built-in web room.

pub mod wire;
