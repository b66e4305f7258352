//! The real program, from outside: killed at any instant, and in all the trouble a machine can make.

mod program;

mod campaign;
mod clock;
#[cfg(feature = "cluster")]
mod cluster;
mod crash;
mod crowd;
mod disk;
mod doors;
mod elsewhere;
mod faults;
mod findings;
mod forgets;
mod ledger;
mod level;
mod local_server;
mod lost_files;
mod models;
mod moment;
mod older;
#[cfg(feature = "postgres")]
mod postgres;
mod posts;
mod signals;
mod starts;
mod tools;
mod waits;
