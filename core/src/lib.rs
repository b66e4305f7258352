//! The engine of aizuchi. It decides; others do.
//!
//! Everything that happens enters as an [`Input`], everything it wants leaves as an [`Effect`]. It reads no clock,
//! draws no random number and touches no file, so that a recorded day can be lived again with the same result.
//!
//! A message comes in and is
//!
//! 1. heard or passed over, and found to address the bot, somebody else or the room ([`listen`]),
//! 2. given points by rules ([`score`]),
//! 3. held back by gates ([`gates`]),
//! 4. judged by a model, after a wait, where points do not settle it ([`judge`]),
//! 5. answered in one of three sizes ([`reply`]).
//!
//! Which message each one answers ([`strands`]) and how likely a newcomer joins there ([`join`]) is learnt ([`trees`]).
//!
//! [`engine`] holds the control flow, [`room`] what is remembered, [`trace`] the story of every decision, and [`sim`]
//! runs it all in virtual time.

pub mod types;

pub mod effect;
pub mod input;

pub mod engine;
pub mod policy;
pub mod room;
pub mod settings;
pub mod timers;
pub mod total;
pub mod trace;
pub mod usage;
pub mod view;

pub mod listen;

pub mod memory;

pub mod trees;

pub mod strands;

pub mod join;

pub mod score;

pub mod gates;

pub mod judge;

pub mod reply;

pub mod sim;

pub use effect::Effect;
pub use engine::Engine;
pub use input::Input;
pub use policy::{Policies, Policy};
pub use trace::Trace;
pub use types::{Message, Time};
