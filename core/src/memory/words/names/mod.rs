//! People's names: finding them in a text, and whom they may mean.

mod boundaries;
mod candidates;
mod finder;
mod forms;

pub use candidates::{DoubtfulName, NameCandidates, NameDoubt, NameEvidence};
#[cfg(test)]
pub(super) use finder::plain;
pub use finder::{NameFinder, bare, names_a_thing};
