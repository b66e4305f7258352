//! What is shown on a terminal: harmless whatever it holds, and nobody minds if nobody reads it.

use std::io::Write as _;

/// What people write may hold codes that a terminal obeys, or that turn its text around.
pub fn harmless(text: &str) -> String {
    let odd = |c: char| {
        c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    text.chars().map(|c| if odd(c) { '�' } else { c }).collect()
}

/// A line on standard error.
pub fn complain(text: &str) {
    for line in text.lines() {
        // Where even this can not be written, there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "aizuchi: {}", harmless(line));
    }
}
