//! Finds people's names in a text: whole words, ignoring case and width.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::super::normal;
use super::boundaries::{NameMatch, match_in};
use crate::types::is_hidden;

/// The names that are looked for.
#[derive(Clone, Debug, Default)]
pub struct NameFinder(Vec<String>);

impl NameFinder {
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> NameFinder {
        let names = names.into_iter().map(|name| plain(name.as_ref()));
        NameFinder(names.filter(|name| !name.is_empty()).collect())
    }

    /// Whether the text mentions somebody or something by one of these names.
    pub fn are_in(&self, text: &str) -> bool {
        self.best_match(text) == Some(NameMatch::Whole)
    }

    /// The same, also where it is unclear whether the name is a word of its own.
    pub fn may_be_in(&self, text: &str) -> bool {
        self.best_match(text).is_some()
    }

    fn best_match(&self, text: &str) -> Option<NameMatch> {
        if self.0.is_empty() {
            return None;
        }
        let text = plain(text);
        let found = self.0.iter().filter_map(|name| match_in(&text, name)).max();
        if found == Some(NameMatch::Whole) {
            return found;
        }
        let is_joined = joined(&text).is_some_and(|joined| self.are_in_joined(&joined));
        if is_joined { Some(NameMatch::Whole) } else { found }
    }

    /// The same for spaced-out letters, where a name may have lost its spaces.
    fn are_in_joined(&self, joined: &str) -> bool {
        let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        let is_in = |name: &str| match_in(joined, name) == Some(NameMatch::Whole);
        self.0.iter().any(|name| name.chars().count() > 1 && (is_in(name) || is_in(&letters(name))))
    }
}

/// A name or a text as names are compared: what is seen of it, in one case and width.
pub(in super::super) fn plain(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    let normal = normal(&seen);
    if normal.is_ascii() {
        return normal.trim().to_owned();
    }
    fold_case(&normal).trim().to_owned()
}

/// Lower case alone keeps apart what one capital stands for: ß and ss, ς and σ, the two Turkish i.
fn fold_case(text: &str) -> String {
    let capitals = text.chars().flat_map(char::to_uppercase);
    let mut folded = String::with_capacity(text.len());
    for c in capitals.flat_map(char::to_lowercase).nfkc() {
        if c != DOT_ABOVE || !folded.ends_with('i') {
            folded.push(c);
        }
    }
    folded
}

/// İ in lower case is an i with this.
const DOT_ABOVE: char = '\u{307}';

/// A name as names are compared, without what adorns it.
pub fn bare(name: &str) -> String {
    let name = plain(name);
    let bare = unadorned(&name);
    if bare.is_empty() { name } else { bare.to_owned() }
}

/// Without emoji and punctuation around it.
pub(super) fn unadorned(name: &str) -> &str {
    name.trim_matches(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
}

/// Whether a text uses the name for a thing, as in "the invoice".
pub fn names_a_thing(text: &str, name: &str) -> bool {
    let (text, name) = (plain(text), bare(name));
    !name.is_empty()
        && ["the", "a", "an"].iter().any(|article| {
            let thing = format!("{article} {name}");
            match_in(&text, &thing) == Some(NameMatch::Whole)
        })
}

/// The text with single letters joined: "m i a", "m.i.a" and "m-i-a" become `mia`. `None` if there are none.
fn joined(text: &str) -> Option<String> {
    let is_between = |c: char| c == ' ' || c == '\u{3000}' || ".-_*·・~|/".contains(c);
    let letters: Vec<char> = text.chars().collect();
    let stands_alone = |at: usize| {
        let between = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_none_or(|c| !c.is_alphanumeric());
        letters[at].is_alphanumeric() && between(at.checked_sub(1)) && between(at.checked_add(1))
    };
    let (mut joined, mut found, mut at, mut sign) = (String::new(), false, 0, None);
    while at < letters.len() {
        joined.push(letters[at]);
        // Skips one separator, the same from letter to letter, to the next single letter.
        let next =
            letters.get(at + 1).copied().filter(|next| is_between(*next) && sign.is_none_or(|sign| sign == *next));
        let over = next.is_some() && at + 2 < letters.len() && stands_alone(at) && stands_alone(at + 2);
        sign = next.filter(|_| over);
        found |= over;
        at += if over { 2 } else { 1 };
    }
    found.then_some(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_whole_word_in_any_case() {
        let found = |text: &str, name: &str| NameFinder::new([name]).are_in(text);
        for (text, name) in [
            ("I met BO yesterday", "Bo"),
            ("Bo's house", "bo"),
            ("_Bo_ said so", "Bo"),
            ("田中さんは来る", "田中"),
            ("それは田中が言った", "田中"),
            ("ゆきちゃんが来た", "ゆき"),
            ("Ｒｉｎａ、いる？", "rina"),
            ("リナは元気", "リナ"),
            ("Rina Sato was here", "rina sato"),
            ("so said R\u{200b}i\u{2060}na today", "Rina"),
            ("so said R i n a today", "Rina"),
            ("it was m.i.a, I think", "Mia"),
            ("R-i-n-a S-a-t-o was here", "Rina"),
            ("R i n a S a t o was here", "Rina Sato"),
            ("so said R\u{e0061}i\u{3164}n\u{115f}a today", "Rina"),
            ("田 中 さんは来る", "田中"),
            ("リ・ナ は元気", "リナ"),
        ] {
            assert!(found(text, name), "{name} in {text}");
        }
        for (text, name) in [
            ("Bob is here", "Bo"),
            ("annual", "ann"),
            ("山田中学校に行く", "田中"),
            ("リナックスを使う", "リナ"),
            ("x", ""),
            ("plan a b c", "Abcd"),
            ("a mia culpa", "am"),
        ] {
            assert!(!found(text, name), "{name} in {text}");
        }
    }

    #[test]
    fn one_capital_stands_for_several_small_letters() {
        for (text, name) in [
            ("ipek paints", "İpek"),
            ("İPEK weaves", "ipek"),
            ("IŞIK sings", "Işık"),
            ("WEISS jagt", "Weiß"),
            ("Weiß kocht", "WEISS"),
            ("ΟΔΥΣΣΕΎΣ sails", "Οδυσσεύς"),
            ("ﬁona reads", "Fiona"),
        ] {
            assert!(NameFinder::new([name]).are_in(text), "{name} in {text}");
        }
    }

    #[test]
    fn an_article_makes_a_thing_of_a_name() {
        assert!(
            names_a_thing("The invoice is due", "Invoice") && names_a_thing("on a server room's floor", "Server room")
        );
        assert!(!names_a_thing("Bathe Invoice", "Invoice") && !names_a_thing("Rina has the invoice", "Rina"));
    }
}
