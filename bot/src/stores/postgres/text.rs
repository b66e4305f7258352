//! Escapes text that PostgreSQL does not accept: it does not allow NUL, and people's names may contain anything.

use std::borrow::Cow;

const ESCAPE: char = '\u{1}';

/// The stored form. Text with neither a NUL nor the escape character stays as it is.
pub fn to_stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(ESCAPE, "\u{1}1").replace('\0', "\u{1}0"))
}

/// The original text.
pub fn from_stored(stored: String) -> String {
    if !stored.contains(ESCAPE) {
        return stored;
    }
    stored.replace("\u{1}0", "\0").replace("\u{1}1", "\u{1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_name_holds_is_read_back() {
        for name in ["", "mia", "\0", "\u{1}", "a\0\u{1}0b", "\u{1}1", "\u{1}\u{1}\0\0", "相槌\0"] {
            let stored = to_stored(name);
            assert!(!stored.contains('\0'), "{name:?}");
            assert_eq!(from_stored(stored.into_owned()), name);
        }
    }
}
