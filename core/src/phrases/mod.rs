//! How names, keywords and set phrases are found in a text.

mod called;
mod finder;
mod lists;
mod notice;
mod set_phrase;

pub(crate) use called::{NameUse, after_first_sentence, name_use};
pub(crate) use finder::Finder;
pub(crate) use lists::{CALLS_FOR_HELP, CLOSINGS, is_filler};
pub(crate) use notice::Notice;

/// White space as Python's `str.strip` sees it: the four separator controls belong to it.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}
