//! 1. Listening: what is heard at all, whom it addresses, and how words are recognised.

mod address;
mod filter;
mod finder;
mod manners;
mod notice;
mod quiet;

pub use address::{Address, Addressed, addressee, speaks_to};
pub use filter::{Unheard, filter, listens_in};
pub use finder::Finder;
pub use manners::{Tone, frowns, tone};
pub use notice::Notice;
pub use quiet::asks_for_quiet;

/// White space as Python's `str.strip` sees it: the four separator controls belong to it.
pub fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}
