//! Which of a person's names mean them, and which may mean somebody or something else.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

use super::super::rarity;
use super::boundaries::{CharClass, CharPair, class_of};
use super::finder::{NameFinder, bare, plain};
use super::forms::{NameForm, forms};
use crate::conversations::RARITY_MAX;

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
    /// It was in use before they had it, and nobody calls them that.
    UsedBefore,
    /// Another person's name begins with it.
    Beginning(Box<str>),
    /// It is only a part of their name.
    Part,
    /// Nothing shows that others mean them by it, or it is used for something else too.
    Untied,
}

impl NameDoubt {
    /// Who else may be meant.
    pub fn other(&self) -> Option<&str> {
        match self {
            NameDoubt::AnotherPerson(other) | NameDoubt::Beginning(other) => Some(other),
            NameDoubt::Word | NameDoubt::UsedBefore | NameDoubt::Part | NameDoubt::Untied => None,
        }
    }

    /// Whether others have it too: it identifies nobody by itself.
    pub fn is_shared(&self) -> bool {
        match self {
            NameDoubt::AnotherPerson(_) | NameDoubt::Word | NameDoubt::UsedBefore => true,
            NameDoubt::Beginning(_) | NameDoubt::Part | NameDoubt::Untied => false,
        }
    }
}

/// What the talk of others shows about a name.
pub struct NameEvidence<'a> {
    /// Whether somebody else called the person by this name.
    pub is_tied: &'a dyn Fn(&str) -> bool,
    /// Whether it was used there before the person had it, or is used for a thing.
    pub is_used_otherwise: &'a dyn Fn(&str) -> bool,
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

    /// The same, with what the talk of others shows. That nobody else has a name does not make it one: only those by which
    /// somebody called the person stay certain.
    #[must_use]
    pub fn weighed(self, evidence: &NameEvidence<'_>) -> NameCandidates {
        let NameCandidates { certain, mut doubtful } = self;
        let mut weighed = NameCandidates::default();
        for name in certain {
            let doubt = match ((evidence.is_tied)(&name), (evidence.is_used_otherwise)(&name)) {
                (true, false) => {
                    weighed.certain.push(name);
                    continue;
                }
                (false, true) => NameDoubt::UsedBefore,
                (true, true) | (false, false) => NameDoubt::Untied,
            };
            weighed.doubtful.push(DoubtfulName { name, doubt });
        }
        for DoubtfulName { name, doubt } in &mut doubtful {
            if !doubt.is_shared() && !(evidence.is_tied)(name) && (evidence.is_used_otherwise)(name) {
                *doubt = NameDoubt::UsedBefore;
            }
        }
        weighed.doubtful.extend(doubtful);
        weighed
    }

    /// Every name, whatever it may mean.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.certain.iter().chain(self.doubtful.iter().map(|known| &known.name)).map(|name| &**name)
    }
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
    if NameFinder::new([&name]).are_in(&other) {
        return Some(Meant::Themselves);
    }
    let next = other.strip_prefix(&*name).and_then(|rest| rest.chars().next());
    let last = name.chars().next_back();
    last.zip(next).map(|(last, next)| match CharPair::of(last, next) {
        CharPair::OneWord => Meant::Beginning,
        // 田中 is the family name of 田中太郎.
        CharPair::Apart | CharPair::SameScript(_) => Meant::Themselves,
    })
}

/// Whether this may be something other than a name: everyday words, numbers, a single letter, or signs.
pub(super) fn is_ordinary(name: &str) -> bool {
    let name = plain(name);
    if name.chars().count() < 2 || is_everyday(&name) {
        return true;
    }
    // The segmenter cuts a name in hiragana into single letters, which everybody uses.
    if name.chars().all(|c| class_of(c) == CharClass::Hiragana) {
        return false;
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

pub(super) fn is_everyday(word: &str) -> bool {
    rarity(word).is_some_and(|rarity| rarity < RARITY_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_form_may_be_somebody_else() {
        assert_eq!(meant("Bo", "Bob"), Some(Meant::Beginning));
        for (name, other) in [
            ("rina", "Rina"),
            ("Rina", "Mori Rina"),
            ("田中", "田中太郎"),
            ("ゆい", "ゆいか"),
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
        for name in ["Rina", "田中", "Bo Lindqvist", "ゆき", "みお", "リナ", "美咲"] {
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
    fn a_word_that_nobody_else_is_called_is_not_a_certain_name_for_that() {
        let weighed = |name: &str, tied: bool, otherwise: bool| {
            let evidence = NameEvidence { is_tied: &|_| tied, is_used_otherwise: &|_| otherwise };
            NameCandidates::sorted([name], []).weighed(&evidence)
        };
        for name in ["会議", "Hanako"] {
            assert_eq!(weighed(name, true, false).certain, [name.into()], "somebody calls them that");
            for (tied, otherwise, doubt) in [
                (false, false, NameDoubt::Untied),
                (true, true, NameDoubt::Untied),
                (false, true, NameDoubt::UsedBefore),
            ] {
                let found = weighed(name, tied, otherwise);
                assert_eq!((found.certain, found.doubtful), (vec![], vec![DoubtfulName { name: name.into(), doubt }]));
            }
        }
        let parts: Vec<NameDoubt> =
            weighed("Mia (Kyoto)", false, true).doubtful.into_iter().map(|of| of.doubt).collect();
        assert_eq!(parts, vec![NameDoubt::UsedBefore; 3], "also parts of it");
    }
}
