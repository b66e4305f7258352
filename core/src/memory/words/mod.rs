//! The words of a text, for searching: segmented by script, in one case and width, without endings and without stop words.

mod alike;
mod english;
mod inflections;
mod japanese;
mod names;
mod phrases;
mod readings;

pub use alike::alike;
use icu_segmenter::WordSegmenter;
use icu_segmenter::options::WordBreakInvariantOptions;
pub use names::{DoubtfulName, NameCandidates, NameDoubt, NameEvidence, NameFinder, bare as bare_name, names_a_thing};
pub use phrases::Phrases;
use unicode_normalization::UnicodeNormalization as _;

use crate::conversations::{LinkModel, hash_of};

/// Normalizes width and case.
pub fn normal(text: &str) -> String {
    text.nfkc().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }).collect()
}

/// The meaningful words, in order and normalized: "Running shoes" is `run shoe`.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    walk(text, &mut |segment| words.extend(bare(segment)));
    words
}

/// Like [`words`], plus for long runs of kanji each pair of neighbours, and Japanese words by their readings: 非同期処理 is
/// found by 非同期 wherever it was segmented, 苺 by いちご.
pub fn search_words(text: &str) -> Vec<String> {
    let mut found = words(text);
    if text.is_ascii() {
        return found;
    }
    let text = normal(text);
    let readings = readings::readings(&text, &found);
    for reading in readings {
        if !found.contains(&reading) {
            found.push(reading);
        }
    }
    for run in japanese::kanji_runs(&text) {
        let pairs = run.windows(2).map(|pair| pair.iter().collect::<String>());
        let new: Vec<String> = pairs.filter(|pair| !found.contains(pair)).collect();
        found.extend(new);
    }
    found
}

/// A word or a symbol of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextToken {
    pub original: String,
    pub normal: String,
}

/// A word as it is written, in lower case, and in normalized form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenWord {
    pub written: String,
    pub word: String,
}

/// The meaningful words, in order: what [`words`] returns, with what is written.
pub fn written_words(text: &str) -> Vec<WrittenWord> {
    let mut found = Vec::new();
    walk(text, &mut |segment| {
        found.extend(bare(segment).map(|word| WrittenWord { written: segment.to_owned(), word }))
    });
    found
}

impl WrittenWord {
    /// Whether it is the same word in another inflection. Words that are only derived from each other, or mean the same, are
    /// different words.
    pub fn is_form_of(&self, other: &WrittenWord) -> bool {
        self.written == other.written
            || self.word == other.word
                && (!self.word.is_ascii() || inflections::are_inflected(&self.written, &other.written))
    }
}

/// The readings of the known words that a text has in kana.
pub fn kana_readings(text: &str) -> Vec<String> {
    readings::readings(&normal(text), &[])
}

/// The readings of a known word in kanji.
pub fn kanji_readings(word: &str) -> Vec<String> {
    readings::readings("", &[word.to_owned()])
}

/// Characters that only separate sentences and words.
const PUNCTUATION: &str = ".,!?;:\"'()[]…~、。！？；：「」『』（）［］〜♪“”‘’";

/// All tokens of a text, in order: words, including function words, and symbols that may mean something.
pub fn tokens(text: &str) -> Vec<TextToken> {
    let text: String = text.nfkc().take(CHARS_MAX).map(|c| if c == '’' { '\'' } else { c }).collect();
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let (mut tokens, mut start) = (Vec::new(), 0);
    for end in segmenter.segment_str(&text) {
        for part in text[start..end].split_whitespace() {
            if !part.chars().all(|c| PUNCTUATION.contains(c)) {
                tokens.push(TextToken { original: part.to_owned(), normal: normal(part) });
            }
        }
        start = end;
    }
    tokens
}

/// Characters of which one between two words, without a space, belongs to them: `3:0`, `.5`.
const JOINING: [char; 3] = ['.', ',', ':'];

/// Like [`tokens`], but nothing is changed that may mean something: width is normalized, and case, superscripts, question marks and
/// what is inside `node.js` stay. `normal` is in lower case.
pub fn exact_tokens(text: &str) -> Vec<TextToken> {
    let width = |c: char| matches!(c, '\u{3000}' | '\u{ff00}'..='\u{ffef}');
    let folded = text.chars().take(CHARS_MAX).flat_map(|c| {
        let folded: String = if width(c) { std::iter::once(c).nfkc().collect() } else { c.into() };
        folded.chars().collect::<Vec<_>>()
    });
    let text: String = folded.nfc().map(|c| if c == '’' { '\'' } else { c }).collect();
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let (mut tokens, mut start) = (Vec::new(), 0);
    for end in segmenter.segment_str(&text) {
        for part in text[start..end].split_whitespace() {
            let joins = part.ends_with(JOINING) && text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
            let is_small = part.chars().all(|c| PUNCTUATION.contains(c) && !MEANINGFUL.contains(&c));
            if joins || !is_small {
                tokens.push(TextToken { original: part.to_owned(), normal: part.to_lowercase() });
            }
        }
        start = end;
    }
    tokens
}

/// Of the punctuation, what changes the meaning of a sentence.
const MEANINGFUL: [char; 4] = ['?', '？', '~', '〜'];

/// The words as people write them, for display: without duplicates, the longest first among those of equal count.
pub fn topics(text: &str, count: usize) -> Vec<Box<str>> {
    let mut topics: Vec<(usize, Box<str>)> = Vec::new();
    walk(text, &mut |segment| {
        let is_word = bare(segment).is_some() && !segment.chars().all(|c| c.is_numeric());
        if !is_word || segment.chars().nth(TOPIC_CHARS_MAX).is_some() {
            return;
        }
        match topics.iter_mut().find(|(_, known)| **known == *segment) {
            Some((times, _)) => *times += 1,
            None => topics.push((1, segment.into())),
        }
    });
    topics.sort_by_key(|(times, topic)| std::cmp::Reverse((*times, topic.chars().count())));
    topics.into_iter().take(count).map(|(_, topic)| topic).collect()
}

/// Longer texts are truncated here.
const CHARS_MAX: usize = 20_000;
/// Nobody talks about a longer word.
const TOPIC_CHARS_MAX: usize = 40;

fn walk(text: &str, each: &mut dyn FnMut(&str)) {
    let text: String = normal(text).chars().take(CHARS_MAX).collect();
    let text = without_addresses(&text);
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let mut start = 0;
    let mut breaks = segmenter.segment_str(&text).iter_with_word_type();
    for (end, kind) in breaks.by_ref() {
        if kind.is_word_like() {
            // A combining mark includes the space before it.
            text[start..end].split_whitespace().for_each(&mut *each);
        }
        start = end;
    }
}

/// URLs are not words, and `<@…>` is an id.
fn without_addresses(text: &str) -> String {
    let is_address = |word: &str| word.contains("://") || word.starts_with("<@") || word.starts_with("<#");
    if !text.split_whitespace().any(is_address) {
        return text.to_owned();
    }
    text.split_whitespace().filter(|word| !is_address(word)).collect::<Vec<_>>().join(" ")
}

/// A segment in normalized form; `None` for a meaningless one.
fn bare(segment: &str) -> Option<String> {
    let first = segment.chars().next()?;
    if japanese::is_kanji(first) || japanese::is_kana(first) {
        return japanese::bare(segment).map(str::to_owned);
    }
    if segment.is_ascii() {
        return english::bare(segment);
    }
    // A mark may be attached to a space.
    let letters: String = segment.chars().filter(|c| !c.is_whitespace()).collect();
    (letters.chars().filter(|c| c.is_alphanumeric()).count() >= 2).then_some(letters)
}

/// Whether a text mentions somebody or something by this name, as a separate word if the script has words.
pub fn mentions(text: &str, name: &str) -> bool {
    NameFinder::new([name]).are_in(text)
}

/// Whether all of it is kanji.
pub(super) fn is_kanji_word(letters: &[char]) -> bool {
    letters.iter().all(|c| japanese::is_kanji(*c))
}

/// Whether a word in lower case is rare in chats.
pub(super) fn is_rare(word: &str) -> bool {
    rarity(word).is_none_or(|rarity| rarity >= crate::conversations::RARITY_MAX)
}

/// Whether an English word in lower case is a function word.
pub(super) fn is_function_word(word: &str) -> bool {
    english::is_stop(word)
}

/// How rare a word in lower case is in chats; `None` if it is not in the lexicon.
pub(super) fn rarity(word: &str) -> Option<u8> {
    if english::is_stop(word) {
        Some(0)
    } else {
        LinkModel::built_in().lexicon.get(hash_of(word)).map(|word| word.rarity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_japanese_sentence_is_many_words() {
        let found = search_words("Rustの非同期処理について教えて");
        assert!(found.contains(&"rust".to_owned()), "{found:?}");
        assert!(search_words("Rust 非同期").iter().all(|word| found.contains(word)), "{found:?}");
        assert!(!found.iter().any(|word| word.contains("について") || word == "の"), "{found:?}");
        for fact in ["明日は猫と散歩に行く", "新しいノートパソコンを買った"] {
            assert!(words(fact).len() >= 3, "{:?}", words(fact));
        }
        assert!(words("散歩").contains(&"散歩".to_owned()));
        assert_eq!(words("食べた"), words("食べる"));
    }

    #[test]
    fn english_loses_endings_and_small_words() {
        assert_eq!(words("She went running with the CHILDREN's dogs!"), words("go run child dog"));
        assert_eq!(words("ＲＵＳＴ　２０２４"), ["rust", "2024"]);
        assert_eq!(words("see https://example.org/a?b=c <@12345> ok"), words("see ok"));
        assert!(words("what is it about? I won’t, don't").is_empty());
        assert_eq!(words("She won"), words("win"));
    }

    #[test]
    fn chinese_is_segmented() {
        assert!(search_words("我们明天去北京旅游").contains(&"北京".to_owned()));
    }

    #[test]
    fn topics_are_words_as_people_write_them() {
        let topics = topics("京都の紅葉を見に行きたい。京都は寒い？", 3);
        assert_eq!(&*topics[0], "京都");
        assert!(topics.iter().any(|topic| &**topic == "紅葉"), "{topics:?}");
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        assert!(mentions("I met Ann.", "ann") && mentions("田中さんは来る", "田中") && mentions("A.B. (x)", "A.B."));
        assert!(!mentions("annual planning", "ann") && !mentions("anything", " "));
    }

    proptest::proptest! {
        /// What is searched for is parted by spaces in the index.
        #[test]
        fn whatever_is_written_is_cut_into_words(text in ".*") {
            let found = search_words(&text);
            assert!(found.iter().all(|word| !word.is_empty() && !word.contains(char::is_whitespace)), "{found:?}");
            assert!(topics(&text, 3).len() <= 3);
            assert!(names::plain(&text).is_empty() || mentions(&text, &text), "{text:?}");
        }
    }
}
