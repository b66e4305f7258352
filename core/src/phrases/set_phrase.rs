//! Recognises a text that is nothing but a set phrase.

/// Longer messages are more than a set phrase.
const SET_PHRASE_BYTES_MAX: usize = 32;

/// Whether the text is one of these words (in lower case) and nothing else, laughter by "w" included.
pub(super) fn is_any(text: &str, words: &[&str]) -> bool {
    if text.len() > SET_PHRASE_BYTES_MAX {
        return false;
    }
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric() && c != '+').to_lowercase();
    let laughs = !plain.is_empty() && plain.chars().all(|c| matches!(c, 'w' | 'ｗ' | '草' | '笑'));
    laughs || (plain.is_empty() && !text.contains(['?', '？'])) || words.contains(&plain.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_phrases_are_recognised_with_what_stands_around_them() {
        for text in ["LOL!!", "草", "wwww", "ｗｗ", "なるほど。", "...", "👍"] {
            assert!(is_any(text, &["lol", "草", "なるほど"]), "{text}");
        }
        for text in ["lol that is wrong", "草むしりした", "?", "why"] {
            assert!(!is_any(text, &["lol", "草"]), "{text}");
        }
    }
}
