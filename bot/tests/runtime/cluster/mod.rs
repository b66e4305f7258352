//! Rooms on Restate and PostgreSQL, both real and on loopback.

mod equality;
mod held_models;
mod one_node;
mod rooms;
