//! Who answers whom: tells the conversations inside one place apart.
//!
//! Every message is compared with the ones before it that it may answer, and with none of them; a small learnt model
//! weighs the alternatives ([`pairs`]). What it settles on ([`Strands`]) is what later messages are compared with.

mod lexicon;
mod line;
pub(crate) mod marks;
mod models;
pub mod pairs;
mod people;
pub(crate) mod reading;
mod tracker;
pub mod words;

pub use lexicon::{Lexicon, RARITY_MAX, START, TELLS, Tells, Word, hash_of};
pub use line::{LINES_MAX, Line, Strand};
pub use models::Models;
pub(crate) use pairs::Lately;
pub use pairs::Weighed;
pub use people::{NOBODY, People, Person, Slot};
pub(crate) use tracker::Choice;
pub use tracker::{Guess, Heard, Scene, Strands};
