//! 1. Listening: which messages are received, and whom they address.

mod address;
mod everybody;
mod filter;
mod label;
mod manners;
mod others;
mod quiet;
mod thanks;

pub(crate) use address::{Address, addressee, speaks_to};
pub(crate) use everybody::speaks_to_everybody;
pub(crate) use filter::{filter, listens_in};
pub(crate) use manners::{Tone, is_disapproving, tone};
pub(crate) use others::seems_to_call;
pub(crate) use quiet::{QuietTime, SaidTo, allowed_to_talk, asked_to_be_quiet, plainly_allowed_to_talk};
pub(crate) use thanks::{only_acknowledges, only_thanks};

pub use crate::trace::Unheard;
pub use crate::types::Addressed;
