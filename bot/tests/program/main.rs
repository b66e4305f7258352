//! The real program, from outside: killed at any instant, and in all the trouble a machine can make.

mod program;

mod campaign;
mod clock;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_edits;
#[cfg(feature = "cluster")]
mod cluster_lost;
#[cfg(feature = "cluster")]
mod cluster_moves;
#[cfg(feature = "cluster")]
mod cluster_pages;
#[cfg(feature = "cluster")]
mod cluster_rooms;
#[cfg(feature = "cluster")]
mod cluster_shards;
#[cfg(feature = "cluster")]
mod cluster_status;
#[cfg(feature = "cluster")]
mod cluster_tools;
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
#[cfg(feature = "postgres")]
mod mixtures;
mod models;
mod moment;
#[cfg(feature = "postgres")]
mod moving;
#[cfg(feature = "cluster")]
mod nodes;
mod older;
mod other_tokens;
#[cfg(feature = "postgres")]
mod postgres;
mod posts;
mod signals;
mod starts;
mod tools;
mod waits;
