//! Sanitizes what a server writes, for a model and for the log.

/// Without characters that a terminal interprets or that hide or reverse text, and truncated. Line breaks and tabs stay.
pub fn cleaned(text: &str, chars_max: usize) -> String {
    let shown = text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_odd(*c));
    shown.take(chars_max).collect()
}

/// One line for the log: unprintable characters are escaped, and long text is truncated.
pub fn log_line(text: &str) -> String {
    const CHARS_MAX: usize = 400;
    let text = text.trim_end();
    let mut line = String::new();
    for c in text.chars().take(CHARS_MAX) {
        if is_odd(c) { line.extend(c.escape_default()) } else { line.push(c) }
    }
    if text.chars().nth(CHARS_MAX).is_some() {
        line.push('…');
    }
    line
}

fn is_odd(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let is_tag = matches!(c, '\u{e0000}'..='\u{e007f}');
    c.is_control() || turns || is_tag || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_characters_are_removed_or_escaped() {
        assert_eq!(cleaned("a\u{1b}[2J\n\tb\u{202e}c\u{e0041}\r", 100), "a[2J\n\tbc");
        assert_eq!(cleaned("いろは", 2), "いろ");
        assert_eq!(log_line("a\u{1b}[2J\u{202e}\n"), "a\\u{1b}[2J\\u{202e}");
        assert_eq!(log_line(&"x".repeat(500)).chars().count(), 401);
    }
}
