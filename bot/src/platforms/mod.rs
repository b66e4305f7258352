//! Where people talk.

pub mod discord;
pub mod slack;
pub mod web;
