//! Finds people's names in a text: whole words, ignoring case and width.
//!
//! Scripts that separate words with spaces show where one ends. In Japanese and Chinese a change of script does, a form of
//! address (さん, 様), or the segmenter, which knows that 山田中学校 does not contain 田中.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

use super::{japanese, normal, rarity};
use crate::conversations::RARITY_MAX;

/// The names that are looked for.
#[derive(Clone, Debug, Default)]
pub struct NameFinder(Vec<String>);

impl NameFinder {
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> NameFinder {
        let names = names.into_iter().map(|name| visible(&normal(name.as_ref())).trim().to_owned());
        NameFinder(names.filter(|name| !name.is_empty()).collect())
    }

    /// Whether the text mentions somebody or something by one of these names.
    pub fn are_in(&self, text: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let text = visible(&normal(text));
        self.0.iter().any(|name| is_in(&text, name)) || joined(&text).is_some_and(|joined| self.are_in_joined(&joined))
    }

    /// The same for spaced-out letters, where a name may have lost its spaces.
    fn are_in_joined(&self, joined: &str) -> bool {
        let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        self.0.iter().any(|name| name.chars().count() > 1 && (is_in(joined, name) || is_in(joined, &letters(name))))
    }
}

/// Without invisible characters.
pub(super) fn visible(text: &str) -> String {
    let is_hidden = |c: char| {
        matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
            || matches!(c, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
    };
    text.chars().filter(|c| !is_hidden(*c)).collect()
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

fn is_in(text: &str, name: &str) -> bool {
    let mut breaks: Option<Vec<usize>> = None;
    let mut parts_words = |at: usize| {
        let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
        breaks.get_or_insert_with(|| segmenter.segment_str(text).collect()).binary_search(&at).is_ok()
    };
    text.match_indices(name).any(|(start, found)| {
        let end = start + found.len();
        let begins = match (text[..start].chars().next_back(), name.chars().next()) {
            (Some(before), Some(first)) => neighbours(before, first),
            (None, _) | (_, None) => Neighbours::Apart,
        };
        let ends = match (name.chars().next_back(), text[end..].chars().next()) {
            (Some(_), Some(_)) if ADDRESSES.iter().any(|address| text[end..].starts_with(address)) => Neighbours::Apart,
            (Some(last), Some(after)) => neighbours(last, after),
            (None, _) | (_, None) => Neighbours::Apart,
        };
        let mut parted = |neighbours: Neighbours, at: usize| match neighbours {
            Neighbours::Apart => true,
            Neighbours::OneWord => false,
            Neighbours::Unclear => parts_words(at),
        };
        parted(begins, start) && parted(ends, end)
    })
}

/// Forms of address that follow a name.
const ADDRESSES: [&str; 13] =
    ["さん", "ちゃん", "くん", "さま", "たん", "っち", "様", "君", "氏", "殿", "先生", "先輩", "嬢"];

/// How two adjacent characters belong together.
enum Neighbours {
    Apart,
    OneWord,
    /// Both of a script that separates words by meaning alone.
    Unclear,
}

#[derive(PartialEq, Eq)]
enum CharClass {
    Spaced,
    Kanji,
    Hiragana,
    Katakana,
    Mark,
}

fn class_of(c: char) -> CharClass {
    match c {
        _ if japanese::is_kanji(c) => CharClass::Kanji,
        _ if japanese::is_hiragana(c) => CharClass::Hiragana,
        _ if japanese::is_katakana(c) => CharClass::Katakana,
        _ if c.is_alphanumeric() => CharClass::Spaced,
        _ => CharClass::Mark,
    }
}

fn neighbours(one: char, next: char) -> Neighbours {
    match (class_of(one), class_of(next)) {
        (CharClass::Mark, _) | (_, CharClass::Mark) => Neighbours::Apart,
        (one, next) if one != next => Neighbours::Apart,
        (CharClass::Spaced, _) => Neighbours::OneWord,
        (CharClass::Kanji | CharClass::Hiragana | CharClass::Katakana, _) => Neighbours::Unclear,
    }
}

/// A person's possible names, by whether only they can be meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameCandidates {
    pub certain: Vec<Box<str>>,
    /// With the name of another person who may be meant; `None` if it may be an ordinary word.
    pub doubtful: Vec<(Box<str>, Option<Box<str>>)>,
}

impl NameCandidates {
    /// `names` are theirs, `others` those of everybody else.
    pub fn sorted<'a>(
        names: impl IntoIterator<Item = &'a str>,
        others: impl IntoIterator<Item = &'a str> + Clone,
    ) -> NameCandidates {
        let mut called = NameCandidates::default();
        let mut seen: Vec<String> = Vec::new();
        for form in names.into_iter().flat_map(forms) {
            let plain = normal(&form);
            if seen.contains(&plain) {
                continue;
            }
            seen.push(plain);
            let other = others.clone().into_iter().find(|other| may_mean(&form, other));
            match other {
                Some(other) => called.doubtful.push((form, Some(other.into()))),
                None if is_ordinary(&form) => called.doubtful.push((form, None)),
                None => called.certain.push(form),
            }
        }
        called
    }
}

/// What a person of this name may be called: the whole name, and its first and last word if these are no ordinary words.
fn forms(name: &str) -> Vec<Box<str>> {
    let words: Vec<&str> = name.split(|c: char| c.is_whitespace() || "()（）[]【】|/・,、".contains(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
    let mut forms: Vec<Box<str>> = vec![name.trim().into()];
    for word in words.first().into_iter().chain(words.last()) {
        let is_new = !forms.iter().any(|form| normal(form) == normal(word));
        if is_new && word.chars().count() > 1 && !is_ordinary(word) {
            forms.push((*word).into());
        }
    }
    forms.retain(|form| !form.is_empty());
    forms
}

/// Whether another person may be meant: they have the same name, or it is a word or the beginning of their name.
fn may_mean(form: &str, other: &str) -> bool {
    let (form, other) = (normal(form), normal(other));
    let (form, other) = (form.trim(), other.trim());
    !form.is_empty() && (other.starts_with(form) || NameFinder(vec![form.to_owned()]).are_in(other))
}

/// Whether this may be something other than a name: an everyday word, or a single letter.
fn is_ordinary(form: &str) -> bool {
    let form = normal(form);
    form.trim().chars().count() < 2 || rarity(form.trim()).is_some_and(|rarity| rarity < RARITY_MAX)
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
    fn a_short_form_may_be_somebody_else() {
        assert!(may_mean("Bo", "Bob") && may_mean("rina", "Rina") && may_mean("Rina", "Mori Rina"));
        assert!(may_mean("田中", "田中太郎"));
        assert!(!may_mean("Bob", "Bo") && !may_mean("Rina Sato", "Rina") && !may_mean("Ina", "Rina"));
        assert!(is_ordinary("May") && is_ordinary("k") && !is_ordinary("Rina") && !is_ordinary("田中"));
    }

    #[test]
    fn names_that_may_be_somebody_elses_are_told_apart() {
        let called = NameCandidates::sorted(["Bo Lindqvist", "bo lindqvist", "May"], ["Bob", "Jonas"]);
        assert_eq!(called.certain, ["Bo Lindqvist".into(), "Lindqvist".into()]);
        assert_eq!(called.doubtful, [("Bo".into(), Some("Bob".into())), ("May".into(), None)]);
    }

    #[test]
    fn somebody_is_called_by_part_of_a_name_too() {
        assert_eq!(forms("Rina Sato"), ["Rina Sato".into(), "Rina".into(), "Sato".into()]);
        assert_eq!(forms("Rina (away)"), ["Rina (away)".into(), "Rina".into()]);
        assert_eq!(forms(" mia "), ["mia".into()]);
        assert_eq!(forms("田中　太郎"), ["田中　太郎".into(), "田中".into(), "太郎".into()]);
    }
}
