//! Whether a draft is nearly the same as an earlier post of the bot.

/// Whether a draft is this similar to one of the bot's own posts; 1.0 means identical, 0.0 disables the check.
pub fn is_repeat<'a>(draft: &str, own: impl IntoIterator<Item = &'a str>, similarity: f64) -> bool {
    if similarity <= 0.0 {
        return false;
    }
    let draft = bare(draft);
    // An emoji or three dots have no words to repeat.
    !draft.is_empty() && own.into_iter().any(|post| is_like(&draft, &bare(post), similarity))
}

fn is_like(one: &str, other: &str, similarity: f64) -> bool {
    let (one_chars, other_chars) = (one.chars().count() as f64, other.chars().count() as f64);
    // Texts of very different length cannot be that similar, which is cheaper to check than pairs of letters.
    let may_be = 2.0 * one_chars.min(other_chars) >= similarity * (one_chars + other_chars);
    may_be && strsim::sorensen_dice(one, other) >= similarity
}

/// Letters and digits only, in one case and one width: the same for text that differs only in punctuation.
fn bare(text: &str) -> String {
    let narrow =
        |c: char| if ('！'..='～').contains(&c) { char::from_u32(c as u32 - 0xfee0).unwrap_or(c) } else { c };
    text.chars().map(narrow).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(draft: &str, own: &[&str]) -> bool {
        is_repeat(draft, own.iter().copied(), 0.9)
    }

    #[test]
    fn the_same_with_other_punctuation_is_a_repetition() {
        for (draft, before) in [
            ("お互いの認識を整理しましょう。", "お互いの認識を整理しましょう！"),
            ("Cover them, they freeze at -2 °C.", "cover them: they freeze at -2 °C"),
            ("ＯＫ、了解です", "ok 了解です。"),
            ("Let us first list what both of you agree on.", "Let us first list what both of you agree upon."),
        ] {
            assert!(repeats(draft, &["something else", before]), "{draft}");
        }
    }

    #[test]
    fn something_else_is_not() {
        for (draft, before) in [
            ("明日は雨です。傘を忘れずに。", "明日は晴れです。帽子を忘れずに。"),
            ("Cover them tonight.", "Water them tonight."),
            ("👀", "👀"),
            ("…", "…"),
            ("はい", "いいえ"),
            ("anything", ""),
        ] {
            assert!(!repeats(draft, &[before]), "{draft}");
        }
    }

    #[test]
    fn at_zero_everything_is_sent() {
        assert!(!is_repeat("same", ["same"], 0.0));
        assert!(is_repeat("same", ["same"], 1.0));
    }
}
