//! The web room as pages meet it: a real server, real web sockets, and an engine that only listens.

mod house;

mod changes;
mod close;
mod commands;
mod door;
mod first;
mod lookalikes;
mod strangers;
mod talk;
mod trouble;
