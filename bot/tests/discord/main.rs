//! Discord on loopback: the adapter, the server itself, and the whole program on it.

mod house;

mod away;
mod doctor;
mod foreign;
mod fuzzed;
mod gateway;
mod heard;
mod names;
mod posted;
mod refused;
mod shards;
mod whole;
