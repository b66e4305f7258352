//! Where people talk.

pub mod slack;
pub mod web;
