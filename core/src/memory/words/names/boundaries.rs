//! Where a name begins and ends in a text.
//!
//! Scripts that separate words with spaces show it. In Japanese and Chinese a change of script does, a form of address
//! (さん, 様), or the segmenter, which knows that 山田中学校 does not contain 田中. It does not know names in hiragana: there
//! the particles beside them tell, and what they leave open is unclear.

use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;

use super::super::{japanese, rarity};
use super::candidates::is_everyday;

/// How well a name was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameMatch {
    /// It may be a part of another word.
    Unclear,
    Whole,
}

/// Whether there is a boundary between two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Boundary {
    Between,
    Unclear,
    WithinWord,
}

/// Where the name is in the text, as well as it can be told. Both are in the form in which names are compared.
pub(super) fn match_in(text: &str, name: &str) -> Option<NameMatch> {
    let mut breaks: Option<Vec<usize>> = None;
    let mut is_break = |at: usize| {
        let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
        breaks.get_or_insert_with(|| segmenter.segment_str(text).collect()).binary_search(&at).is_ok()
    };
    let mut best = None;
    for (start, found) in text.match_indices(name) {
        let end = start + found.len();
        let begins = beginning(text, start, &mut is_break);
        let ends = ending(text, end, &mut is_break);
        let matched = match (begins, ends) {
            (Boundary::WithinWord, _) | (_, Boundary::WithinWord) | (Boundary::Unclear, Boundary::Unclear) => None,
            (Boundary::Between, Boundary::Between) => Some(NameMatch::Whole),
            (Boundary::Unclear, _) | (_, Boundary::Unclear) => Some(NameMatch::Unclear),
        };
        let matched = matched.filter(|_| !is_within_common_word(text, start, end));
        if matched == Some(NameMatch::Whole) {
            return matched;
        }
        best = best.max(matched);
    }
    best
}

/// Forms of address that follow a name.
const ADDRESSES: [&str; 13] =
    ["さん", "ちゃん", "くん", "さま", "たん", "っち", "様", "君", "氏", "殿", "先生", "先輩", "嬢"];

/// Particles, and the words that follow a name as these do.
const PARTICLES: [&str; 19] = [
    "が", "と", "も", "は", "の", "を", "に", "で", "へ", "から", "より", "だ", "や", "って", "なら", "まで", "です",
    "ね", "よ",
];

/// After と and its like these begin no phrase: はるとが is about はると.
const AFTER_NAMES_ALONE: [&str; 2] = ["が", "を"];

/// A single character after a name that makes a place of it: 美咲町.
const PLACES: &str = "町市村区県都府郡島駅川山寺城橋丁館校園店社線港湖沢谷原野浜坂通院署局";

fn beginning(text: &str, start: usize, is_break: &mut dyn FnMut(usize) -> bool) -> Boundary {
    let before = &text[..start];
    let (Some(last), Some(first)) = (before.chars().next_back(), text[start..].chars().next()) else {
        return Boundary::Between;
    };
    let pair = CharPair::of(last, first);
    let CharPair::SameScript(script) = pair else { return pair.boundary() };
    if is_break(start) || (script == CharClass::Hiragana && PARTICLES.iter().any(|word| before.ends_with(word))) {
        return Boundary::Between;
    }
    match script {
        CharClass::Hiragana => Boundary::Unclear,
        // A longer word before it may be one of its own: ギターリナ.
        CharClass::Katakana if before.chars().rev().take_while(|c| japanese::is_katakana(*c)).count() >= 3 => {
            Boundary::Unclear
        }
        CharClass::Kanji | CharClass::Katakana | CharClass::Spaced | CharClass::Mark => Boundary::WithinWord,
    }
}

fn ending(text: &str, end: usize, is_break: &mut dyn FnMut(usize) -> bool) -> Boundary {
    let after = &text[end..];
    let (Some(last), Some(next)) = (text[..end].chars().next_back(), after.chars().next()) else {
        return Boundary::Between;
    };
    if ADDRESSES.iter().any(|address| after.starts_with(address)) {
        return Boundary::Between;
    }
    let pair = CharPair::of(last, next);
    let CharPair::SameScript(script) = pair else { return pair.boundary() };
    if script == CharClass::Hiragana
        && let Some(particle) = PARTICLES.iter().find(|word| after.starts_with(**word))
    {
        let rest = &after[particle.len()..];
        let is_longer_name = AFTER_NAMES_ALONE.iter().any(|word| rest.starts_with(word)) && *particle != "の";
        return if is_longer_name { Boundary::Unclear } else { Boundary::Between };
    }
    if is_break(end) {
        let is_place = PLACES.contains(next) && is_break(end + next.len_utf8());
        return if is_place { Boundary::WithinWord } else { Boundary::Between };
    }
    if script == CharClass::Hiragana { Boundary::Unclear } else { Boundary::WithinWord }
}

/// How far around a name a common word is looked for.
const AROUND_CHARS: usize = 3;

/// Whether the hiragana of the name is a part of a longer word that everybody uses: まい in まいにち.
fn is_within_common_word(text: &str, start: usize, end: usize) -> bool {
    if !text[start..end].chars().all(japanese::is_hiragana) {
        return false;
    }
    let around = |chars: &mut dyn Iterator<Item = char>| {
        let run = chars.take(AROUND_CHARS).take_while(|c| japanese::is_hiragana(*c));
        run.scan(0, |length, c| {
            *length += c.len_utf8();
            Some(*length)
        })
        .collect::<Vec<usize>>()
    };
    let before = around(&mut text[..start].chars().rev());
    let after = around(&mut text[end..].chars());
    let starts: Vec<usize> = std::iter::once(start).chain(before.iter().map(|length| start - length)).collect();
    let ends: Vec<usize> = std::iter::once(end).chain(after.iter().map(|length| end + length)).collect();
    let is_particle = |word: &str| PARTICLES.contains(&word) || word.is_empty();
    starts.iter().any(|from| {
        ends.iter().any(|to| {
            let beside = is_particle(&text[*from..start]) && is_particle(&text[end..*to]);
            let word = &text[*from..*to];
            !beside && (is_everyday(word) || (word.chars().count() >= 3 && rarity(word).is_some()))
        })
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharClass {
    Spaced,
    Kanji,
    Hiragana,
    Katakana,
    Mark,
}

pub(super) fn class_of(c: char) -> CharClass {
    match c {
        _ if japanese::is_kanji(c) => CharClass::Kanji,
        _ if japanese::is_hiragana(c) => CharClass::Hiragana,
        _ if japanese::is_katakana(c) => CharClass::Katakana,
        _ if c.is_alphanumeric() => CharClass::Spaced,
        _ => CharClass::Mark,
    }
}

/// How two adjacent characters belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharPair {
    Apart,
    OneWord,
    /// Both of a script that separates words by meaning alone.
    SameScript(CharClass),
}

impl CharPair {
    pub(super) fn of(one: char, next: char) -> CharPair {
        match (class_of(one), class_of(next)) {
            (CharClass::Mark, _) | (_, CharClass::Mark) => CharPair::Apart,
            (one, next) if one != next => CharPair::Apart,
            (CharClass::Spaced, _) => CharPair::OneWord,
            (script @ (CharClass::Kanji | CharClass::Hiragana | CharClass::Katakana), _) => {
                CharPair::SameScript(script)
            }
        }
    }

    fn boundary(self) -> Boundary {
        match self {
            CharPair::Apart => Boundary::Between,
            CharPair::OneWord => Boundary::WithinWord,
            CharPair::SameScript(_) => Boundary::Unclear,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::finder::NameFinder;

    #[test]
    fn particles_show_where_a_name_in_hiragana_ends() {
        for (text, name) in [
            ("ゆいが猫を飼っている", "ゆい"),
            ("昨日ゆいと会った", "ゆい"),
            ("ゆいも離婚した", "ゆい"),
            ("ゆいは京都に住んでいる", "ゆい"),
            ("弟はゆいより背が高い", "ゆい"),
            ("それはゆいだ", "ゆい"),
            ("これはゆいのです", "ゆい"),
            ("ゆいって誰", "ゆい"),
            ("ゆい、元気？", "ゆい"),
            ("ねこはまいのもの", "まい"),
            ("まいが猫を飼っている", "まい"),
            ("はるの誕生日は五月", "はる"),
            ("はるとあきが来た", "はる"),
            ("きのうみおとあそんだ", "みお"),
            ("みおもすき", "みお"),
            ("さくらがすき", "さくら"),
            ("姉由美が来た", "由美"),
            ("昨日由美子と由美が来た", "由美"),
        ] {
            assert!(NameFinder::new([name]).are_in(text), "{name} in {text}");
        }
    }

    #[test]
    fn what_the_letters_leave_open_is_unclear() {
        for (text, name) in [("はるとが来た", "はる"), ("ギターリナが弾く", "リナ")] {
            let finder = NameFinder::new([name]);
            assert!(finder.may_be_in(text) && !finder.are_in(text), "{name} in {text}");
        }
        for (text, name) in [
            ("岬と美咲町に行った", "美咲"),
            ("由美子が来た", "由美"),
            ("山田中学校に行く", "田中"),
            ("リナックスを使う", "リナ"),
            ("カタリナが来た", "リナ"),
            ("東京都に住む", "京都"),
        ] {
            assert!(!NameFinder::new([name]).may_be_in(text), "{name} in {text}");
        }
    }
}
