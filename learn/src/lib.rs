//! Learns from labelled logs who answers whom, and where somebody joins.

pub mod boost;
pub mod card;
pub mod lives;
pub mod models;
pub mod rows;
pub mod train;
pub mod words;
