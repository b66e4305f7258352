//! Where people talk.

pub mod discord;
pub mod web;
