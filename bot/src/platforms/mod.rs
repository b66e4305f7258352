//! Where people talk.

use aizuchi_core::settings::{Flat, is_url};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::lookalike::looks_empty;

mod backoff;
mod web_socket;

pub mod discord;
pub mod slack;
mod their_clock;
pub mod web;

/// Text as one part of a path or a query of a URL.
pub fn url_component(text: &str) -> percent_encoding::PercentEncode<'_> {
    const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, PLAIN)
}

/// Leaves a problem where somebody set what is no URL. None at all stands for the platform's own.
fn check_url(key: &str, url: &str, schemes: [&str; 2], example: &str, flat: &mut Flat) {
    if !url.is_empty() && !is_url(url, &schemes) {
        flat.misfit(key, &format!("\"\", or a URL such as {example:?}"));
    }
}

/// Leaves a problem where a token could not be looked for anywhere.
fn check_variable(key: &str, variable: &str, flat: &mut Flat) {
    if looks_empty(variable) {
        flat.misfit(key, "the name of an environment variable");
    }
}
