//! "Be quiet", said to it: a command, whatever a model might make of it.

use crate::phrases::trim;

const WORDS: &[&str] = &[
    "be quiet",
    "quiet",
    "quiet please",
    "be silent",
    "silence",
    "shut up",
    "stop talking",
    "hush",
    "please be quiet",
    "静かにして",
    "静かに",
    "しずかにして",
    "しずかに",
    "黙って",
    "だまって",
    "黙れ",
    "静かにしてください",
    "黙っててください",
    "静かにしてて",
    "黙ってて",
    "ちょっと静かにして",
    "しーっ",
    "シーッ",
];

/// `rest` is what was said beside its name or mention.
pub(crate) fn asks_for_quiet(rest: &str) -> bool {
    let is_around = |c: char| c.is_whitespace() || "!！.。,、:：~〜ー".contains(c) && !c.is_alphanumeric();
    let plain = trim(rest).trim_matches(is_around).to_lowercase();
    WORDS.contains(&plain.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_request_itself_counts() {
        for text in ["be quiet", " Quiet please! ", ", shut up.", "静かにして！", "、黙って。"] {
            assert!(asks_for_quiet(text), "{text}");
        }
        for text in ["why is it so quiet here?", "静かにしてたのに", "he told me to shut up", ""] {
            assert!(!asks_for_quiet(text), "{text}");
        }
    }
}
