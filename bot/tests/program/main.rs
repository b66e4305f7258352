//! The real program, from outside: killed at any instant, and in all the trouble a machine can make.

// Each platform's own tests use more of these.
#[allow(dead_code, unused_imports)]
#[path = "../discord/server/mod.rs"]
mod discord_server;
mod program;
#[expect(dead_code, reason = "others break off and hold back")]
#[path = "../models/server.rs"]
mod server;
#[allow(dead_code, unused_imports)]
#[path = "../slack/server/mod.rs"]
mod slack_server;
#[expect(dead_code, reason = "others come back and give orders")]
#[path = "../web/visitor.rs"]
mod visitor;

mod campaign;
mod clock;
mod crash;
mod crowd;
mod disk;
mod doors;
mod elsewhere;
mod faults;
mod findings;
mod forgets;
mod ledger;
mod lost_files;
mod models;
mod moment;
mod older;
mod posts;
mod signals;
mod starts;
mod waits;
