//! Rooms on Restate and PostgreSQL, both real and on loopback.

#[path = "../runtime/made_up.rs"]
#[allow(dead_code)]
mod made_up;
#[path = "../runtime/talks.rs"]
mod talks;

mod equality;
mod held_models;
mod one_node;
mod rooms;
