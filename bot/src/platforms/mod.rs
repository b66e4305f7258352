//! Where people talk.

mod backoff;
mod web_socket;

pub mod discord;
pub mod slack;
pub mod web;
