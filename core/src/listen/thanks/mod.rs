//! Thanks and praise that say nothing else, so that no answer is expected.

mod english;
mod japanese;

use super::quiet::prepare;

/// Emoji with which people thank and praise.
const PRAISE: &str = "🙏👍❤🧡💛💚💙💜💖💕😊🥰😍👏🎉💯🙌🤗😘🫶🏆⭐🌟✨💪";

/// Whether these words, said to the bot, are only thanks or praise. `rest` is the text without its name or mention.
pub(crate) fn only_thanks(rest: &str) -> bool {
    says_only(rest, english::only_thanks, japanese::only_thanks)
}

/// The same with assent: "got it", 「承知しました」.
pub(crate) fn only_acknowledges(rest: &str) -> bool {
    says_only(rest, english::only_acknowledges, japanese::only_acknowledges)
}

fn says_only(rest: &str, english: fn(&str) -> bool, japanese: fn(&str) -> bool) -> bool {
    let Some(text) = prepare(rest) else { return false };
    if text.contains(['?', '"']) {
        return false;
    }
    if !text.contains(char::is_alphanumeric) {
        return text.contains(|c| PRAISE.contains(c));
    }
    let is_kana_or_han = |c: char| matches!(c, 'ぁ'..='ヺ' | '一'..='鿿');
    if text.contains(is_kana_or_han) { japanese(&text) } else { english(&text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thanks_and_praise_are_told_from_questions() {
        let lines = include_str!("../../../tests/words/thanks.txt").lines().filter(|line| !line.starts_with('#'));
        let misses = lines.clone().filter(|line| {
            let (mark, words) = line.split_once(' ').expect("a mark and a line");
            only_thanks(words) != (mark == "T")
        });
        let misses: Vec<&str> = misses.collect();
        // Who asks something is never put off with an emoji.
        assert!(misses.iter().all(|line| line.starts_with('T')), "{misses:#?}");
        assert!(lines.count() >= 100 && misses.len() <= 3, "{misses:#?}");
    }
}
