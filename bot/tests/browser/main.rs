//! The web room as people meet it: the program itself, offline, in a real browser. Nothing in here waits for a fixed time.

mod browser;
mod page;
mod room;

mod answers;
mod changes;
mod commands;
mod looks;
mod memory;
mod picture;
mod reconnect;
mod sample;
mod strangers;
mod tools;
