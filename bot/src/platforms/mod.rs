//! Where people talk.

mod backoff;
mod web_socket;

pub mod discord;
pub mod slack;
mod their_clock;
pub mod web;
