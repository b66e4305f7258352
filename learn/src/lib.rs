//! Learns from labelled logs who answers whom, and where somebody joins.

pub mod adapt;
pub mod boost;
pub mod card;
pub mod models;
pub mod rooms;
pub mod rows;
pub mod train;
pub mod words;
