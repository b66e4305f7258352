//! Whether two facts say the same: they differ in nothing but width, punctuation, an article, or a word that adds nothing
//! ("really"), at a place where it adds nothing.
//!
//! To merge two facts that differ is a loss, and to keep both is only a little redundant. So everything that may mean
//! something counts: case (mW is not MW, Polish not polish, US not us), a question mark, a superscript, "a few" against
//! "few", every word beside a "not", and in Japanese every particle.

use super::words::{TextToken, exact_tokens, is_function_word};

pub(super) fn says_same(one: &str, other: &str) -> bool {
    let (one, other) = (Statement::read(one), Statement::read(other));
    let (mut at, mut beside, mut shared) = (0, 0, false);
    loop {
        match (one.tokens.get(at), other.tokens.get(beside)) {
            (None, None) => return shared || one.text == other.text,
            (Some(a), Some(b)) if is_same(a, b, at + beside == 0, one.is_shouted || other.is_shouted) => {
                (at, beside, shared) = (at + 1, beside + 1, true);
            }
            (a, b) => {
                let are_articles =
                    [a, b].iter().all(|token| token.is_some_and(|token| ARTICLES.contains(&&*token.normal)));
                let is_negative = one.is_negative || other.is_negative;
                if are_articles {
                    return false;
                } else if one.adds_nothing(at, is_negative) {
                    at += 1;
                } else if other.adds_nothing(beside, is_negative) {
                    beside += 1;
                } else {
                    return false;
                }
            }
        }
    }
}

struct Statement<'a> {
    text: &'a str,
    tokens: Vec<TextToken>,
    /// Capital letters mean nothing: there are several words of them, and none in lower case.
    is_shouted: bool,
    is_negative: bool,
}

const ARTICLES: [&str; 3] = ["a", "an", "the"];
/// Words that add nothing to a fact without a "not".
const FILLERS: [&str; 6] = ["really", "truly", "indeed", "actually", "also", "currently"];
/// With an article they mean something else: "a few", "the one".
const COUNTING: [&str; 26] = [
    "few", "little", "bit", "lot", "couple", "dozen", "hundred", "thousand", "million", "half", "quarter", "third",
    "one", "only", "first", "last", "same", "other", "others", "best", "worst", "most", "least", "next", "more",
    "less",
];
/// Words after which "a" is an article. After anything else it may be the "A" of "vitamin A".
const BEFORE_ARTICLE: [&str; 57] = [
    "is", "are", "was", "were", "be", "been", "am", "has", "have", "had", "having", "with", "without", "in", "on",
    "at", "to", "into", "from", "for", "by", "of", "as", "like", "likes", "than", "and", "or", "but", "that", "if",
    "because", "not", "such", "quite", "what", "about", "after", "before", "during", "under", "over", "near", "got",
    "get", "gets", "wants", "needs", "owns", "bought", "does", "did", "really", "just", "also", "became", "per",
];
/// Words that mean something else in capital letters.
const NAMES_IN_CAPITALS: [&str; 8] = ["us", "it", "who", "in", "or", "me", "am", "aids"];
const NEGATIVE: [&str; 8] = ["not", "no", "never", "cannot", "nor", "neither", "none", "without"];
/// Shorter words in capitals are units and abbreviations.
const SHOUTED_CHARS_MIN: usize = 5;

impl Statement<'_> {
    fn read(text: &str) -> Statement<'_> {
        let tokens = exact_tokens(text);
        let is_shouted = is_shouted(&tokens);
        let is_not = |token: &TextToken| NEGATIVE.contains(&&*token.normal) || token.normal.ends_with("n't");
        let is_negative = tokens.iter().any(is_not);
        Statement { text: text.trim(), tokens, is_shouted, is_negative }
    }

    fn adds_nothing(&self, at: usize, is_negative: bool) -> bool {
        let Some(token) = self.tokens.get(at) else { return false };
        let next = self.tokens.get(at + 1);
        let is_lower = token.original == token.normal;
        let is_loud = token.original.chars().count() > 1 && token.original == token.original.to_uppercase();
        let counts = next.is_none_or(|next| {
            COUNTING.contains(&&*next.normal) || next.original.starts_with(|c: char| c.is_numeric())
        });
        match token.normal.as_str() {
            "a" | "an" => (is_lower || at == 0 || self.is_shouted) && !counts && self.is_article(at),
            "the" => (is_lower || at == 0 || is_loud) && !counts,
            // The one that ends a sentence, behind what cannot be a part of the same word: a word in kanji, or one such as 「好き」.
            "です" | "だ" => {
                let before = at.checked_sub(1).map(|before| &*self.tokens[before].original);
                let is_apart = |c: char| !matches!(c, 'ぁ'..='ゟ') && c.is_alphanumeric();
                let ends_apart = |before: &str| before.chars().next_back().is_some_and(is_apart);
                let has_kanji = |before: &str| before.chars().any(|c| matches!(c, '\u{4e00}'..='\u{9fff}'));
                next.is_none() && before.is_some_and(|before| ends_apart(before) || has_kanji(before))
            }
            word => FILLERS.contains(&word) && (is_lower || is_loud) && !is_negative && next.is_some(),
        }
    }

    /// Whether an "a" is an article: before a word in the same script, and at the beginning or after a word that may precede
    /// one. "Vitamin A" has none, nor has ビタミンA.
    fn is_article(&self, at: usize) -> bool {
        let is_latin = |token: &TextToken| token.normal.starts_with(|c: char| c.is_ascii_alphanumeric());
        let before = at.checked_sub(1).map(|before| &self.tokens[before]);
        let in_place = before.is_none_or(|before| BEFORE_ARTICLE.contains(&&*before.normal));
        in_place && self.tokens.get(at + 1).is_some_and(is_latin)
    }
}

fn is_shouted(said: &[TextToken]) -> bool {
    let is_lower = |token: &TextToken| token.original.chars().any(char::is_lowercase);
    let in_capitals = |token: &&TextToken| token.original.chars().filter(|c| c.is_uppercase()).count() > 1;
    !said.iter().any(is_lower) && said.iter().filter(in_capitals).count() > 1
}

/// Whether two words differ only in a case that means nothing: the first letter of the text, or a word in capitals.
fn is_same(one: &TextToken, other: &TextToken, are_first: bool, in_shout: bool) -> bool {
    if one.original == other.original {
        return true;
    }
    if one.normal != other.normal {
        return false;
    }
    let word = one.normal.as_str();
    let differs_at_first = || one.original.chars().skip(1).eq(other.original.chars().skip(1));
    if are_first && word.chars().count() > 1 && differs_at_first() {
        return true;
    }
    if NAMES_IN_CAPITALS.contains(&word) {
        return false;
    }
    let loud = word.to_uppercase();
    let is_loud = |token: &TextToken| token.original == loud;
    // "Green" and "GREEN", not "Green" and "green".
    let is_quiet = |token: &TextToken| !token.original.chars().skip(1).any(char::is_uppercase);
    let is_pair = is_loud(one) && is_quiet(other) || is_loud(other) && is_quiet(one);
    let is_word = || is_function_word(word) || word.len() >= SHOUTED_CHARS_MIN;
    in_shout || is_pair && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && is_word()
}
