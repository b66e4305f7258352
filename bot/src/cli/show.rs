//! What is shown on a terminal: harmless whatever it holds, and nobody minds if nobody reads it.

use std::io::Write as _;

/// What people write may hold codes that a terminal obeys, or that turn its text around.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_odd(c) { '�' } else { c }).collect()
}

/// JSON that a terminal shows and does not obey, with nothing lost.
pub fn harmless_json(value: &serde_json::Value) -> String {
    let mut text = String::new();
    for c in value.to_string().chars() {
        if is_odd(c) { text.push_str(&format!("\\u{:04x}", u32::from(c))) } else { text.push(c) }
    }
    text
}

fn is_odd(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// A line on standard error.
pub fn complain(text: &str) {
    for line in text.lines() {
        // Where even this can not be written, there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "aizuchi: {}", harmless(line));
    }
}
