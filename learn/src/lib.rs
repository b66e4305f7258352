//! Learns from labelled logs who answers whom, and where somebody joins; and measures both.

pub mod boost;
pub mod card;
pub mod labels;
pub mod lives;
pub mod logs;
pub mod metrics;
pub mod models;
pub mod rows;
pub mod train;
pub mod words;
