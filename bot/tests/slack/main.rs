//! Slack as the adapter meets it: a server on loopback that speaks the real protocol, checked itself with a foreign client.

mod office;

mod commands;
mod gaps;
mod lines;
mod posts;
mod talk;
mod tokens;

mod life;

mod cheats;
mod foreign;
mod fuzz;
