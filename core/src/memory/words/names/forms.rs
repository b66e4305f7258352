//! What a person may be called: the whole name, and parts of it.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

use super::boundaries::{CharClass, class_of};
use super::candidates::is_ordinary;
use super::finder::{plain, unadorned};

/// What a person may be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NameForm {
    pub name: Box<str>,
    pub is_part: bool,
}

/// A longer name has no more parts than this.
const PARTS_MAX: usize = 8;
/// What is between the words of a name.
const BETWEEN: &str = "()（）[]【】|/・,、_-‐‑–.=＝&＆+＋";
const BRACKETS: [char; 8] = ['(', ')', '（', '）', '[', ']', '【', '】'];

/// The whole name without what adorns it, and its words if these are no ordinary words.
pub(super) fn forms(name: &str) -> Vec<NameForm> {
    let words = name.split(|c: char| c.is_whitespace() || BETWEEN.contains(c));
    let words: Vec<&str> = words.filter(|word| word.chars().any(char::is_alphanumeric)).map(unadorned).collect();
    let bare = unadorned(name);
    let whole = if bare.is_empty() || bare.contains(BRACKETS) { name.trim() } else { bare };
    let mut forms = vec![NameForm { name: whole.into(), is_part: false }];
    let japanese = words.iter().flat_map(|word| family_and_given(word));
    for word in words.iter().copied().chain(japanese).take(PARTS_MAX) {
        let is_new = !forms.iter().any(|form| plain(&form.name) == plain(word));
        if is_new && word.chars().count() > 1 && !is_ordinary(word) {
            forms.push(NameForm { name: word.into(), is_part: true });
        }
    }
    forms.retain(|form| !plain(&form.name).is_empty());
    forms
}

/// The parts of a name that is written without a space: 田中 and 太郎 of 田中太郎, 山田 and はなこ of 山田はなこ.
fn family_and_given(word: &str) -> Vec<&str> {
    if !word.chars().all(|c| matches!(class_of(c), CharClass::Kanji | CharClass::Hiragana | CharClass::Katakana)) {
        return Vec::new();
    }
    let mut runs: Vec<&str> = Vec::new();
    let mut start = 0;
    let starts: Vec<(usize, CharClass)> = word.char_indices().map(|(at, c)| (at, class_of(c))).collect();
    for pair in starts.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
        runs.push(&word[start..pair[1].0]);
        start = pair[1].0;
    }
    runs.push(&word[start..]);
    let is_kanji = |run: &str| run.chars().all(|c| class_of(c) == CharClass::Kanji);
    let split = runs.iter().filter(|run| is_kanji(run)).flat_map(|run| split_kanji(run));
    let mut parts: Vec<&str> = if runs.len() > 1 { runs.clone() } else { Vec::new() };
    parts.extend(split);
    parts
}

/// As the segmenter splits it, or after the second character, as most family names end.
fn split_kanji(name: &str) -> Vec<&str> {
    if !(3..=5).contains(&name.chars().count()) {
        return Vec::new();
    }
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let breaks: Vec<usize> = segmenter.segment_str(name).collect();
    let pieces: Vec<&str> = breaks.windows(2).map(|ends| &name[ends[0]..ends[1]]).collect();
    let second = name.char_indices().nth(2).map_or(name.len(), |(at, _)| at);
    if pieces.len() > 1 { pieces } else { vec![&name[..second], &name[second..]] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_called_by_part_of_a_name_too() {
        for (name, expected) in [
            ("Rina Sato", &["Rina Sato", "Rina", "Sato"][..]),
            ("Rina (away)", &["Rina (away)", "Rina"]),
            (" mia ", &["mia"]),
            ("★Rina\u{1f338}", &["Rina"]),
            ("田中　太郎", &["田中　太郎", "田中", "太郎"]),
            ("\u{200b}", &[]),
            ("rina_sato", &["rina_sato", "rina", "sato"]),
            ("Jean-Luc", &["Jean-Luc", "Jean", "Luc"]),
            ("Ana Maria Silva", &["Ana Maria Silva", "Ana", "Maria", "Silva"]),
            ("田中太郎", &["田中太郎", "田中", "太郎"]),
            ("山田はなこ", &["山田はなこ", "山田", "はなこ"]),
            ("さくらこ", &["さくらこ"]),
        ] {
            let found: Vec<NameForm> = forms(name);
            assert_eq!(found.iter().map(|form| &*form.name).collect::<Vec<_>>(), expected, "{name:?}");
            assert!(found.iter().skip(1).all(|form| form.is_part));
        }
    }
}
