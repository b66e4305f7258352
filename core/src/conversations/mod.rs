//! Who answers whom: separates the conversations inside one place.
//!
//! Every message is compared with the earlier ones that it may answer, and with the alternative that it answers none; a
//! small learnt model rates the alternatives ([`pairs`]). Later messages are compared with the result ([`Conversations`]).

mod addressees;
mod exchange_counts;
mod lexicon;
mod line;
mod lines;
mod marks;
mod models;
mod pace;
pub mod pairs;
mod participants;
mod reading;
mod shared;
mod stored;
mod tracker;
pub mod words;

pub use lexicon::{Lexicon, RARITY_MAX, START, TELLS, Word, WordSignal, hash_of};
pub(crate) use line::{Conversation, TalkLine};
pub(crate) use marks::TextMarks;
pub use models::LinkModel;
pub(crate) use pairs::WeighedCandidates;
pub(crate) use participants::{NOBODY, Participant, Slot};
pub(crate) use reading::centred;
pub(crate) use tracker::Arrival;
pub(crate) use tracker::{Choice, Placed};
pub use tracker::{Conversations, Utterance};
