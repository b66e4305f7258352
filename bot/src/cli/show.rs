//! Terminal output: control characters are replaced, and it does not matter if nobody reads it.

use std::io::{IsTerminal as _, Write as _};

use indicatif::{ProgressBar, ProgressStyle};

/// Shown on a terminal only.
pub fn progress_bar(length: u64, what: &'static str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{msg:10} {wide_bar} {percent:>3} % {eta}");
    ProgressBar::new(length).with_style(style.expect("the template is valid")).with_message(what)
}

/// Replaces what a terminal would interpret, or what changes the direction of text: people's messages may contain it.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| if is_odd(c) { '�' } else { c }).collect()
}

/// JSON with these characters escaped, so that nothing is lost.
pub fn harmless_json(value: &serde_json::Value) -> String {
    escaped(&value.to_string())
}

/// The same for JSON that is already serialized.
pub fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_odd(c) { text.push_str(&format!("\\u{:04x}", u32::from(c))) } else { text.push(c) }
    }
    text
}

/// Control characters, characters that change the text direction, characters without width, and those that some programs
/// treat as line ends. JSON can escape each of them with four digits.
fn is_odd(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let is_unseen = matches!(c, '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}');
    c.is_control() || turns || is_unseen || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
}

/// Prints a line to standard error.
pub fn print_error(text: &str) {
    for line in text.lines() {
        // If even standard error cannot be written, nobody is left to notify.
        let _ = writeln!(std::io::stderr(), "aizuchi: {}", harmless(line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_loses_nothing_by_being_harmless() {
        let said = "\u{200b}\u{feff}\u{2060}\u{9b}31mred \u{1b}[2J \u{202e}drow\u{2066} \u{2028} \u{61c} 😀é";
        let text = harmless_json(&serde_json::json!({ "text": said }));
        assert!(!text.contains(is_odd), "{text:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["text"], said);
        assert!(text.contains("😀é") && text.contains("\\u009b31m"), "{text}");
        assert!(!harmless(said).contains(is_odd));
        assert_eq!(harmless("a\u{200b}b\u{feff}c 👩\u{200d}👧"), "a�b�c 👩\u{200d}👧", "what joins is seen");
    }
}
