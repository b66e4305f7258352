//! Labelled logs, and how well guesses match their labels. The trainer and `aizuchi eval` measure with the same code; nothing
//! here trains.

pub mod addressees;
pub mod baselines;
pub mod conversations;
pub mod labels;
pub mod logs;
pub mod metrics;
pub mod silences;
