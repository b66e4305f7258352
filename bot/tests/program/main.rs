//! The real program, from outside: killed at any instant, and in all the trouble a machine can make.

mod program;
#[path = "../web/visitor.rs"]
#[expect(dead_code, reason = "shared")]
mod visitor;

mod crash;
mod crowd;
mod ledger;
