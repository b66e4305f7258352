//! Three nodes of Restate, two workers, two gateways and PostgreSQL, each on a machine of its own, while people talk in the web room, on
//! Discord and on Slack.
//!
//! `./dev test` runs a short campaign, `./dev soak` a long one. NODES_SEED repeats the draws of an earlier one, NODES_FAULTS says how
//! many faults there are, and NODES_SECONDS for how long something is stopped or cut off.
#![cfg(target_os = "linux")]

mod askers;
mod balancer;
mod campaign;
mod chatters;
mod checks;
mod faults;
mod own_network;
mod stage;
mod takeover;
mod up;
mod upgrade;
