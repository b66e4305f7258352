//! Characters that are drawn as nothing.

use unicode_normalization::char::is_combining_mark;

/// Characters that have no width, change the text direction, or carry hidden text: those that Unicode marks as ignorable, and
/// annotations.
pub fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters that are drawn as nothing: hidden ones, spaces, and placeholders.
pub(crate) fn is_unseen(c: char) -> bool {
    is_hidden(c) || c.is_control() || c.is_whitespace() || matches!(c, '\u{2800}' | '\u{fffc}' | '\u{1d159}')
}

/// Whether a person who looks at it sees nothing at all.
pub(crate) fn is_invisible(text: &str) -> bool {
    text.chars().all(|c| is_unseen(c) || is_combining_mark(c))
}
