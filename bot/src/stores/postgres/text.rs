//! Text that PostgreSQL does not take: it knows no NUL, and people's names may hold anything.

use std::borrow::Cow;

const ESCAPE: char = '\u{1}';

/// As it is stored. What has neither a NUL nor the escape itself stays as it is.
pub fn to_stored(text: &str) -> Cow<'_, str> {
    if !text.contains(['\0', ESCAPE]) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(ESCAPE, "\u{1}1").replace('\0', "\u{1}0"))
}

/// As it was.
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
