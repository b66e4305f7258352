//! What is to be forgotten: the words that a text must have to be about it.
//!
//! They are looked for as they are: in any inflection, and in kana and kanji. What only means nearly the same is another topic:
//! to delete too much cannot be made good.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::super::words::{
    WrittenWord, is_kanji_word, kana_readings, kanji_readings, rarity, search_words, words, written_words,
};

/// What somebody wants the bot to forget of what they said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgetTopic {
    words: Vec<TopicWord>,
}

/// Says how something is felt about, not what is meant.
static FEELINGS: LazyLock<Vec<String>> = LazyLock::new(|| {
    words("awful terrible horrible stupid silly embarrassing bad sad whole little weird dumb annoying")
});
/// At the end of a topic they say when it was said, or are polite: "about my visa yesterday, if possible".
static TRAILING: LazyLock<Vec<String>> = LazyLock::new(|| {
    words(
        "yesterday today tonight earlier before recently morning evening afternoon night week minute moment hour ago now just possible thank thanks private",
    )
});
/// The same at the beginning of a Japanese one: 「昨日言ったビザの話」.
const LEADING: [&str; 15] = [
    "昨日",
    "今日",
    "今朝",
    "先週",
    "さっき",
    "先ほど",
    "前",
    "私",
    "僕",
    "俺",
    "言っ",
    "言った",
    "話し",
    "話した",
    "私が",
];
/// Of a longer topic, one word in so many may be missing.
const MISSING: usize = 3;

impl ForgetTopic {
    /// `None` if there is no word to look for.
    pub(super) fn of(topic: &str) -> Option<ForgetTopic> {
        let mut found = written_words(topic);
        let is_feeling = |word: &WrittenWord| FEELINGS.contains(&word.word);
        if !found.iter().all(is_feeling) {
            found.retain(|word| !is_feeling(word));
        }
        let is_trailing = |word: &WrittenWord| TRAILING.contains(&word.word);
        let is_leading = |word: &WrittenWord| LEADING.contains(&word.written.as_str());
        while found.len() > 1 && found.last().is_some_and(is_trailing) {
            found.pop();
        }
        while found.len() > 1 && found.first().is_some_and(is_leading) {
            found.remove(0);
        }
        let mut words: Vec<TopicWord> = Vec::new();
        for word in found {
            if words.iter().all(|known| known.word.word != word.word) {
                words.push(TopicWord::of(word));
            }
        }
        (!words.is_empty()).then_some(ForgetTopic { words })
    }

    /// Whether a text is about it: it has every word, in one of its forms; of three or more all but one in three, and the
    /// rarest.
    pub fn is_in(&self, text: &str) -> bool {
        let said = SaidWords::of(text);
        let is_said = |word: &TopicWord| word.is_in(&said);
        let rarest = self.words.iter().map(|word| word.rarity).max();
        let (found, missing): (Vec<&TopicWord>, Vec<&TopicWord>) = self.words.iter().partition(|word| is_said(word));
        let has_rarest = found.iter().any(|word| Some(word.rarity) == rarest);
        has_rarest && missing.len() <= self.words.len() / MISSING
    }
}

/// The words of a text that may be about it.
struct SaidWords {
    written: Vec<WrittenWord>,
    /// Also in other segmentations and by their readings.
    all: BTreeSet<String>,
    kana: Vec<String>,
}

impl SaidWords {
    fn of(text: &str) -> SaidWords {
        let all = search_words(text).into_iter().collect();
        SaidWords { written: written_words(text), all, kana: kana_readings(text) }
    }
}

/// A word that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TopicWord {
    word: WrittenWord,
    /// How it is written in kana, if it is in kanji.
    kanji_readings: Vec<String>,
    /// The known words that it is in kana.
    kana_readings: Vec<String>,
    rarity: u8,
}

impl TopicWord {
    fn of(word: WrittenWord) -> TopicWord {
        TopicWord {
            kanji_readings: kanji_readings(&word.word),
            kana_readings: kana_readings(&word.written),
            rarity: rarity(&word.word).unwrap_or(u8::MAX),
            word,
        }
    }

    fn is_in(&self, said: &SaidWords) -> bool {
        let word = &self.word.word;
        said.written.iter().any(|said| self.word.is_form_of(said))
            || !word.is_ascii() && said.all.contains(word)
            || self.kanji_readings.iter().any(|reading| said.kana.contains(reading))
            || self.kana_readings.iter().any(|reading| said.all.contains(reading))
            || self.is_within(&said.all)
    }

    /// Whether a long word in kanji is there in another segmentation: all its pairs are.
    fn is_within(&self, said: &BTreeSet<String>) -> bool {
        let letters: Vec<char> = self.word.word.chars().collect();
        letters.len() > 2
            && is_kanji_word(&letters)
            && letters.windows(2).all(|pair| said.contains(&pair.iter().collect::<String>()))
    }
}
