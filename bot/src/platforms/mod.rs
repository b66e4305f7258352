//! Where people talk.

pub mod web;
