//! Rooms on Restate and PostgreSQL, both real and on loopback.

mod budget;
mod equality;
mod forgetting;
mod gateway;
mod held_models;
mod one_node;
mod rooms;
mod siblings;
