//! Properties of a text: that it asks, thanks, greets, laughs, has a link or code.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde::{Deserialize, Serialize};

use crate::phrases::{CALLS_FOR_HELP, CLOSINGS, is_filler};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct TextMarks(u16);

impl TextMarks {
    pub(crate) const CALL: TextMarks = TextMarks(1);
    pub(crate) const CLOSING: TextMarks = TextMarks(2);
    pub(crate) const FILLER: TextMarks = TextMarks(4);
    pub(crate) const ASKS: TextMarks = TextMarks(8);
    pub(crate) const LINK: TextMarks = TextMarks(16);
    pub(crate) const CODE: TextMarks = TextMarks(32);
    pub(crate) const SMILE: TextMarks = TextMarks(64);
    pub(crate) const GREETING: TextMarks = TextMarks(128);
    pub(crate) const UNFINISHED: TextMarks = TextMarks(256);
    pub(crate) const EXCLAIMS: TextMarks = TextMarks(512);
    pub(crate) const DIGITS: TextMarks = TextMarks(1024);
    pub(super) const BITS: u32 = 11;

    pub(crate) fn has(self, mark: TextMarks) -> bool {
        self.0 & mark.0 != 0
    }

    /// All of them, below [`TextMarks::BITS`].
    pub(super) fn bits(self) -> u16 {
        self.0
    }

    pub(super) fn of_bits(bits: u16) -> TextMarks {
        TextMarks(bits & ((1 << TextMarks::BITS) - 1))
    }

    fn add(&mut self, mark: TextMarks) {
        self.0 |= mark.0;
    }

    /// The marks of a text; and 0 if it asks nothing, 1 if it asks somewhere, 2 if it ends with a question.
    pub(crate) fn of(body: &str) -> (TextMarks, u8) {
        let (automaton, meanings) = &*PHRASES;
        let mut marks = TextMarks::default();
        for found in automaton.find_overlapping_iter(body) {
            let mark = meanings[found.pattern()];
            let inner = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            let latin = body.as_bytes()[found.start()].is_ascii_alphanumeric();
            let before = found.start().checked_sub(1).map(|at| body.as_bytes()[at]);
            if !latin || !(inner(before) || inner(body.as_bytes().get(found.end()).copied())) {
                marks.add(mark);
            }
        }
        if is_filler(body) {
            marks.add(TextMarks::FILLER);
        }
        let signs = ByteKinds::of(body);
        if (signs.has(ByteKinds::COLON) && body.contains("://")) || (signs.has(ByteKinds::DOT) && body.contains("www."))
        {
            marks.add(TextMarks::LINK);
        }
        if signs.has(ByteKinds::CODE) || (signs.has(ByteKinds::DASH) && body.contains("--")) {
            marks.add(TextMarks::CODE);
        }
        let bare = body.trim_end();
        if bare.ends_with([',', ':', '、', '…', '-']) || bare.ends_with("..") {
            marks.add(TextMarks::UNFINISHED);
        }
        if bare.ends_with(['!', '！']) {
            marks.add(TextMarks::EXCLAIMS);
        }
        if signs.has(ByteKinds::DIGIT) {
            marks.add(TextMarks::DIGITS);
        }
        let end = bare.trim_end_matches(|c: char| c.is_whitespace() || "!！。.）)ｗw笑~〜…".contains(c));
        let asks = end.ends_with(['?', '？', 'か'])
            || ["かな", "かしら", "かね", "っけ"].iter().any(|particle| end.ends_with(particle));
        let somewhere = (signs.has(ByteKinds::ASKS) || (signs.has(ByteKinds::WIDE) && body.contains('？')))
            && !marks.has(TextMarks::LINK);
        (marks, if asks { 2 } else { u8::from(somewhere) })
    }
}

/// The models were trained on the word alone, whether it calls or not.
const HELP: &[&str] = &["help"];
const ASKING: &[&str] = &[
    "how",
    "what",
    "why",
    "where",
    "when",
    "which",
    "who",
    "can i",
    "can you",
    "is there",
    "does",
    "do you",
    "should i",
    "何",
    "なに",
    "なん",
    "どう",
    "どこ",
    "いつ",
    "誰",
    "だれ",
    "なぜ",
    "どれ",
    "どの",
    "どちら",
    "いくら",
    "ですか",
    "ますか",
    "かな",
];
const GREETINGS: &[&str] = &[
    "hi",
    "hello",
    "hey",
    "hiya",
    "morning",
    "good morning",
    "good evening",
    "howdy",
    "おはよう",
    "こんにちは",
    "こんばんは",
    "はじめまして",
    "よろしく",
];
const SMILES: &[&str] = &[":)", ":-)", ";)", ":d", ":p", "lol", "haha", "^^", "笑", "草", "ｗ", "www"];

static PHRASES: LazyLock<(AhoCorasick, Vec<TextMarks>)> = LazyLock::new(|| {
    let lists = [
        (CALLS_FOR_HELP, TextMarks::CALL),
        (HELP, TextMarks::CALL),
        (CLOSINGS, TextMarks::CLOSING),
        (ASKING, TextMarks::ASKS),
        (GREETINGS, TextMarks::GREETING),
        (SMILES, TextMarks::SMILE),
    ];
    let all = || lists.iter().flat_map(|(words, mark)| words.iter().map(move |word| (*word, *mark)));
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(AhoCorasickKind::DFA)).match_kind(MatchKind::Standard).ascii_case_insensitive(true);
    let automaton = builder.build(all().map(|(word, _)| word)).expect("a list of words fits into an automaton");
    (automaton, all().map(|(_, mark)| mark).collect())
});

/// The kinds of bytes a text has, one bit for each, determined in one pass.
#[derive(Clone, Copy)]
struct ByteKinds(u8);

impl ByteKinds {
    const CODE: u8 = 1;
    const DIGIT: u8 = 2;
    const ASKS: u8 = 4;
    const COLON: u8 = 8;
    const DOT: u8 = 16;
    const DASH: u8 = 32;
    /// A full-width character may begin here.
    const WIDE: u8 = 64;

    const KINDS: [u8; 256] = {
        let mut kinds = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            kinds[byte] = match byte as u8 {
                b'/' | b'=' | b'`' | b'{' | b'|' | b'\\' | b'<' | b'$' | b'~' => ByteKinds::CODE,
                b'0'..=b'9' => ByteKinds::DIGIT,
                b'?' => ByteKinds::ASKS,
                b':' => ByteKinds::COLON,
                b'.' => ByteKinds::DOT,
                b'-' => ByteKinds::DASH,
                0xef => ByteKinds::WIDE,
                _ => 0,
            };
            byte += 1;
        }
        kinds
    };

    fn of(text: &str) -> ByteKinds {
        ByteKinds(text.bytes().fold(0, |signs, byte| signs | ByteKinds::KINDS[usize::from(byte)]))
    }

    fn has(self, kind: u8) -> bool {
        self.0 & kind != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_seen_in_both_languages() {
        for text in ["how?", "本当に？", "できますか", "行くかな。", "どこだっけ", "really?!"] {
            assert_eq!(TextMarks::of(text).1, 2, "{text}");
        }
        assert_eq!(TextMarks::of("why? tell me").1, 1);
        assert_eq!(TextMarks::of("see http://a.example/?q=1 for that").1, 0);
        assert!(TextMarks::of("誰か教えて").0.has(TextMarks::CALL));
    }
}
