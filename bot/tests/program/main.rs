//! The real program, from outside: killed at any instant, and in all the trouble a machine can make.

mod program;
#[expect(dead_code, reason = "others break off and hold back")]
#[path = "../models/server.rs"]
mod server;
#[expect(dead_code, reason = "others come back and give orders")]
#[path = "../web/visitor.rs"]
mod visitor;

mod crash;
mod crowd;
mod disk;
mod doors;
mod ledger;
mod models;
mod signals;
mod starts;
mod waits;
