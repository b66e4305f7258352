//! Finds people's names in a text: whole words, ignoring case and width.
//!
//! Scripts that separate words with spaces show where one ends. In Japanese and Chinese a change of script does, a form of
//! address (さん, 様), or the segmenter, which knows that 山田中学校 does not contain 田中.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;
use unicode_normalization::char::is_combining_mark;

use super::{japanese, normal, rarity};
use crate::conversations::RARITY_MAX;
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
        if self.0.is_empty() {
            return false;
        }
        let text = plain(text);
        self.0.iter().any(|name| is_in(&text, name)) || joined(&text).is_some_and(|joined| self.are_in_joined(&joined))
    }

    /// The same for spaced-out letters, where a name may have lost its spaces.
    fn are_in_joined(&self, joined: &str) -> bool {
        let letters = |name: &str| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        self.0.iter().any(|name| name.chars().count() > 1 && (is_in(joined, name) || is_in(joined, &letters(name))))
    }
}

/// A name or a text as names are compared: what is seen of it, in one case and width.
pub(super) fn plain(text: &str) -> String {
    let seen: String = text.chars().filter(|c| !is_hidden(*c)).collect();
    normal(&seen).trim().to_owned()
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
    pub doubtful: Vec<DoubtfulName>,
}

/// A name that may be something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubtfulName {
    pub name: Box<str>,
    pub doubt: NameDoubt,
}

/// Why a name may be something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameDoubt {
    /// It is another person's name, or a word of it.
    AnotherPerson(Box<str>),
    /// It is an ordinary word.
    Word,
    /// Another person's name begins with it.
    Beginning(Box<str>),
    /// It is only a part of their name.
    Part,
}

impl NameDoubt {
    /// Who else may be meant.
    pub fn other(&self) -> Option<&str> {
        match self {
            NameDoubt::AnotherPerson(other) | NameDoubt::Beginning(other) => Some(other),
            NameDoubt::Word | NameDoubt::Part => None,
        }
    }

    /// Whether others have the name too, whoever claims it: it identifies nobody by itself.
    pub fn is_shared(&self) -> bool {
        match self {
            NameDoubt::AnotherPerson(_) | NameDoubt::Word => true,
            NameDoubt::Beginning(_) | NameDoubt::Part => false,
        }
    }
}

impl NameCandidates {
    /// `names` are theirs, `others` those of everybody else.
    pub fn sorted<'a>(
        names: impl IntoIterator<Item = &'a str>,
        others: impl IntoIterator<Item = &'a str> + Clone,
    ) -> NameCandidates {
        let mut called = NameCandidates::default();
        let mut forms: Vec<NameForm> = names.into_iter().flat_map(forms).collect();
        // What one of their names has as a part may be another of their names.
        forms.sort_by_key(|form| form.is_part);
        let mut known: Vec<String> = Vec::new();
        for NameForm { name, is_part } in forms {
            let plain = plain(&name);
            if known.contains(&plain) {
                continue;
            }
            known.push(plain);
            match doubt(&name, is_part, others.clone()) {
                Some(doubt) => called.doubtful.push(DoubtfulName { name, doubt }),
                None => called.certain.push(name),
            }
        }
        called
    }
}

/// What a person may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NameForm {
    name: Box<str>,
    is_part: bool,
}

/// The whole name without what adorns it, and its first and last word if these are no ordinary words.
fn forms(name: &str) -> Vec<NameForm> {
    let words: Vec<&str> = name.split(|c: char| c.is_whitespace() || BETWEEN.contains(c)).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| word.chars().any(char::is_alphanumeric)).collect();
    let bare = unadorned(name);
    let whole = if bare.is_empty() || bare.contains(BRACKETS) { name.trim() } else { bare };
    let mut forms = vec![NameForm { name: whole.into(), is_part: false }];
    for word in words.first().into_iter().chain(words.last()).map(|word| unadorned(word)) {
        let is_new = !forms.iter().any(|form| plain(&form.name) == plain(word));
        if is_new && word.chars().count() > 1 && !is_ordinary(word) {
            forms.push(NameForm { name: word.into(), is_part: true });
        }
    }
    forms.retain(|form| !plain(&form.name).is_empty());
    forms
}

/// What is between the words of a name.
const BETWEEN: &str = "()（）[]【】|/・,、";
const BRACKETS: [char; 8] = ['(', ')', '（', '）', '[', ']', '【', '】'];

/// Without emoji and punctuation around it.
fn unadorned(name: &str) -> &str {
    name.trim_matches(|c: char| !c.is_alphanumeric() && !is_combining_mark(c))
}

/// A name as names are compared, without what adorns it.
pub fn bare(name: &str) -> String {
    let name = plain(name);
    let bare = unadorned(&name);
    if bare.is_empty() { name } else { bare.to_owned() }
}

fn doubt<'a>(name: &str, is_part: bool, others: impl IntoIterator<Item = &'a str>) -> Option<NameDoubt> {
    let mut begins = None;
    for other in others {
        match meant(name, other) {
            Some(Meant::Themselves) => return Some(NameDoubt::AnotherPerson(other.into())),
            Some(Meant::Beginning) => begins = begins.or(Some(NameDoubt::Beginning(other.into()))),
            None => (),
        }
    }
    if is_ordinary(name) {
        return Some(NameDoubt::Word);
    }
    begins.or(is_part.then_some(NameDoubt::Part))
}

/// How another person may be meant by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meant {
    /// It is their name, or a word of it.
    Themselves,
    /// Their name begins with it.
    Beginning,
}

fn meant(name: &str, other: &str) -> Option<Meant> {
    let (name, other) = (bare(name), bare(other));
    if name.is_empty() {
        return None;
    }
    if NameFinder(vec![name.clone()]).are_in(&other) {
        return Some(Meant::Themselves);
    }
    let next = other.strip_prefix(&*name).and_then(|rest| rest.chars().next());
    let last = name.chars().next_back();
    last.zip(next).map(|(last, next)| match neighbours(last, next) {
        Neighbours::OneWord => Meant::Beginning,
        // 田中 is the family name of 田中太郎.
        Neighbours::Apart | Neighbours::Unclear => Meant::Themselves,
    })
}

/// Whether this may be something other than a name: everyday words, numbers, a single letter, or signs.
fn is_ordinary(name: &str) -> bool {
    let name = plain(name);
    if name.chars().count() < 2 || is_everyday(&name) {
        return true;
    }
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let mut start = 0;
    segmenter.segment_str(&name).iter_with_word_type().all(|(end, kind)| {
        let word = &name[start..end];
        start = end;
        let is_letter = word.chars().count() == 1 && word.chars().all(|c| class_of(c) == CharClass::Spaced);
        !kind.is_word_like() || is_letter || word.chars().all(char::is_numeric) || is_everyday(word)
    })
}

fn is_everyday(word: &str) -> bool {
    rarity(word).is_some_and(|rarity| rarity < RARITY_MAX)
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
    fn a_short_form_may_be_somebody_else() {
        assert_eq!(meant("Bo", "Bob"), Some(Meant::Beginning));
        for (name, other) in [
            ("rina", "Rina"),
            ("Rina", "Mori Rina"),
            ("田中", "田中太郎"),
            ("Ri\u{200b}na", "Rina"),
            ("R\u{e0061}ina", "Rina"),
            ("Rina.", "Rina"),
            ("Rina", "★Rina★"),
        ] {
            assert_eq!(meant(name, other), Some(Meant::Themselves), "{name:?}");
        }
        for (name, other) in [("Bob", "Bo"), ("Rina Sato", "Rina"), ("Ina", "Rina"), ("\u{200b}", "Rina")] {
            assert_eq!(meant(name, other), None, "{name:?}");
        }
        for word in ["May", "k", "T\u{200b}he", "the.", "Good Morning", "2024", "!!!", "\u{1f338}"] {
            assert!(is_ordinary(word), "{word:?}");
        }
        for name in ["Rina", "田中", "Bo Lindqvist", "ゆき", "リナ", "美咲"] {
            assert!(!is_ordinary(name), "{name}");
        }
    }

    #[test]
    fn names_that_may_be_somebody_elses_are_told_apart() {
        let called = NameCandidates::sorted(["Bo Lindqvist", "bo lindqvist", "May"], ["Bob", "Jonas"]);
        assert_eq!(called.certain, ["Bo Lindqvist".into()]);
        let doubtful = |name: &str, doubt| DoubtfulName { name: name.into(), doubt };
        let (word, beginning) = (doubtful("May", NameDoubt::Word), doubtful("Bo", NameDoubt::Beginning("Bob".into())));
        assert_eq!(called.doubtful, [word, beginning, doubtful("Lindqvist", NameDoubt::Part)]);
        let called = NameCandidates::sorted(["Rina Sato", "Rina"], []);
        assert_eq!(called.certain, ["Rina Sato".into(), "Rina".into()], "one of their names, whatever it is a part of");
    }

    #[test]
    fn somebody_is_called_by_part_of_a_name_too() {
        for (name, expected) in [
            ("Rina Sato", &["Rina Sato", "Rina", "Sato"][..]),
            ("Rina (away)", &["Rina (away)", "Rina"]),
            (" mia ", &["mia"]),
            ("★Rina\u{1f338}", &["Rina"]),
            ("田中　太郎", &["田中　太郎", "田中", "太郎"]),
            ("\u{200b}", &[]),
        ] {
            let found: Vec<NameForm> = forms(name);
            assert_eq!(found.iter().map(|form| &*form.name).collect::<Vec<_>>(), expected, "{name:?}");
            assert!(found.iter().skip(1).all(|form| form.is_part));
        }
    }
}
