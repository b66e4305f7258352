//! Discord on loopback: the adapter, the server itself, and the whole program on it.

mod house;
mod server;

mod away;
mod doctor;
mod foreign;
mod fuzzed;
mod heard;
mod names;
mod posted;
mod shards;
mod whole;
