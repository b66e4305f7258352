//! The engine of aizuchi. It decides; the shells act.
//!
//! Everything that happens enters as an [`Input`], everything it wants leaves as an [`Effect`]. It reads no clock, draws no
//! random number and touches no file, so that a recorded day can be replayed with the same result.
//!
//! A message
//!
//! 1. is received or skipped, and found to address the bot, somebody else or the room (`listen`),
//! 2. is assigned to one of the conversations of its place (`conversations`),
//! 3. is rated, if it is not addressed to the bot, by one of two deciders: by how likely somebody would join there, as
//!    learnt from real talk (`likelihood`; the default preset, `aizuchi`), or by points that rules give (`points`; preset
//!    `sphene`). The presets `kotonoha` and `myao2` rate nothing and ask a model about everything. `decider` is the
//!    interface between them,
//! 4. may be stopped by gates (`gates`),
//! 5. is judged by a model, after a wait, if the decider does not settle it (`judge`),
//! 6. is answered in one of three sizes (`reply`).
//!
//! `learnt` has all learnt models: built in, or adapted to a room. `engine` has the control flow, `room` what is
//! remembered, `trace` the record of every decision as data, and `sim` runs it all in virtual time. Each module uses those
//! below it and no others: the tidy test has the list. There is no sentence for people here: shells make them from the
//! data, with the files in `locales/`.

#![warn(unreachable_pub, clippy::too_many_lines)]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::wildcard_enum_match_arm))]

pub mod types;

pub mod settings;
mod transcript;
pub mod trees;
pub mod usage;

pub mod reminders;
pub mod tools;

mod phrases;

pub mod conversations;
pub mod judge;
pub mod likelihood;
pub mod memory;

pub mod learnt;
pub mod policy;

pub mod effect;
pub mod input;
pub mod trace;

pub mod room;

pub mod gates;
pub mod listen;
pub mod points;
pub mod reply;

mod decider;
pub mod view;

pub mod engine;

pub mod siblings;
pub mod sim;
pub mod total;

pub use effect::Effect;
pub use engine::Engine;
pub use input::Input;
pub use policy::{Policies, Policy};
pub use trace::Trace;
pub use types::{Message, Time};
