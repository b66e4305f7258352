//! What one text says on its face: whom it names, whether it asks, and its words as hashes.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde::{Deserialize, Serialize};

use super::lexicon::{Hasher, Lexicon, RARITY_MAX, START, TELLS, Tells, hash_of, pair_hash};
use super::people::{NOBODY, People, Slot};
use crate::score::{CALLS_FOR_HELP, CLOSINGS, is_filler};
use crate::trees::{VALUES, log_steps};

/// Words kept of a message: the first ones that are not everybody's.
pub const WORDS_MAX: usize = 12;
/// Words looked at in a message: who writes more has said what it is about.
const WORDS_READ_MAX: usize = 60;
pub const ADDRESSEES_MAX: usize = 3;
/// A word rarer than this, in half powers of two, is worth comparing.
const RARITY_WORTH: u8 = 8;

/// How directly somebody is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Address {
    #[default]
    Nobody,
    /// The name stands somewhere in the text.
    Named,
    /// The text begins with the name, or the platform says so.
    Directed,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reading {
    pub to: [Option<Slot>; ADDRESSEES_MAX],
    pub address: Address,
    /// 0 no question, 1 asks somewhere, 2 ends by asking.
    pub question: u8,
    pub marks: Marks,
    /// Width in columns, an ideograph says as much as two letters; in [`log_steps`].
    pub width: u8,
    /// What its words tell, [`centred`].
    tells: [u8; TELLS.len()],
    /// Hashes of its words, none of them 0; the rest are 0.
    pub words: [u16; WORDS_MAX],
    pub rarities: [u8; WORDS_MAX],
    pub words_len: u8,
    /// One bit for each word: two messages without a common bit have no word in common.
    pub bits: u64,
    /// Share of its words that the lexicon knows, in eighths.
    pub known: u8,
}

/// Sixteenths of log-odds around the middle of the scale of a feature.
pub fn centred(weight: i32) -> u8 {
    (32 + weight / 4).clamp(0, VALUES as i32 - 1) as u8
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Marks(u16);

impl Marks {
    pub const CALL: Marks = Marks(1);
    pub const CLOSING: Marks = Marks(2);
    pub const FILLER: Marks = Marks(4);
    pub const ASKS: Marks = Marks(8);
    pub const LINK: Marks = Marks(16);
    pub const CODE: Marks = Marks(32);
    pub const SMILE: Marks = Marks(64);
    pub const GREETING: Marks = Marks(128);
    pub const UNFINISHED: Marks = Marks(256);
    pub const EXCLAIMS: Marks = Marks(512);
    pub const DIGITS: Marks = Marks(1024);

    pub fn has(self, mark: Marks) -> bool {
        self.0 & mark.0 != 0
    }

    fn add(&mut self, mark: Marks) {
        self.0 |= mark.0;
    }
}

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

static PHRASES: LazyLock<(AhoCorasick, Vec<Marks>)> = LazyLock::new(|| {
    let lists = [
        (CALLS_FOR_HELP, Marks::CALL),
        (CLOSINGS, Marks::CLOSING),
        (ASKING, Marks::ASKS),
        (GREETINGS, Marks::GREETING),
        (SMILES, Marks::SMILE),
    ];
    let all = || lists.iter().flat_map(|(words, mark)| words.iter().map(move |word| (*word, *mark)));
    let mut builder = AhoCorasick::builder();
    builder.kind(Some(AhoCorasickKind::DFA)).match_kind(MatchKind::Standard).ascii_case_insensitive(true);
    let automaton = builder.build(all().map(|(word, _)| word)).expect("a list of words fits into an automaton");
    (automaton, all().map(|(_, mark)| mark).collect())
});

/// Reads a text said by one of these people.
pub fn read(text: &str, author: Slot, people: &People, lexicon: &Lexicon) -> Reading {
    let mut reading = Reading::default();
    let text = &text[..text.floor_char_boundary(2000)];
    let body = reading.find_names(text, author, people);
    reading.note_marks(body);
    reading.take_words(body, lexicon);
    reading
}

/// The text without the names it begins with.
pub fn body<'a>(text: &'a str, author: Slot, people: &People) -> &'a str {
    Reading::default().find_names(text, author, people)
}

impl Reading {
    pub fn address(&mut self, slot: Slot, how: Address) {
        let free = self.to.iter_mut().find(|to| to.is_none_or(|there| there == slot));
        if let Some(to) = free {
            *to = Some(slot);
            self.address = self.address.max(how);
        }
    }

    pub fn addresses(&self, slot: Slot) -> bool {
        slot != NOBODY && self.to.contains(&Some(slot))
    }

    /// What its words tell, [`centred`].
    pub fn tells(&self, what: Tells) -> u8 {
        self.tells[what as usize]
    }

    /// Of this message's words, those that the other one has too: one bit for each.
    pub fn shared_with(&self, other: &Reading) -> u16 {
        if self.bits & other.bits == 0 {
            return 0;
        }
        let has = |word: u16| other.words.iter().fold(false, |has, there| has | (*there == word));
        let words = self.words[..usize::from(self.words_len)].iter().enumerate();
        words.map(|(place, word)| u16::from(has(*word)) << place).sum()
    }

    /// Finds whom the text names; returns what follows the names it begins with.
    fn find_names<'a>(&mut self, text: &'a str, author: Slot, people: &People) -> &'a str {
        let mut body = text.trim_start();
        let begins = people.named_at_start(body.trim_start_matches(['@', '＠']));
        if let Some((slot, len)) = begins.filter(|(slot, _)| *slot != author) {
            self.address(slot, Address::Directed);
            body = body.trim_start_matches(['@', '＠'])[len..].trim_start_matches(|c: char| !c.is_alphanumeric());
        }
        while let Some(chunk) = body.split_whitespace().next() {
            let Some((slot, directed)) = named_by(chunk, people).filter(|(slot, _)| *slot != author) else { break };
            if !directed
                && self.address == Address::Nobody
                && !body[chunk.len()..].trim_start().is_empty()
                && chunk.len() < 3
            {
                break;
            }
            self.address(slot, if directed { Address::Directed } else { Address::Named });
            body = body[chunk.len()..].trim_start();
        }
        for chunk in body.split_whitespace().skip(1).filter(|chunk| chunk.len() > 2) {
            if let Some((slot, directed)) = named_by(chunk, people).filter(|(slot, _)| *slot != author) {
                let at = chunk.starts_with(['@', '＠']) && directed;
                self.address(slot, if at { Address::Directed } else { Address::Named });
            }
        }
        if !text.is_ascii() {
            self.find_titles(text, author, people);
        }
        body
    }

    /// Names with a Japanese title, wherever they stand.
    fn find_titles(&mut self, text: &str, author: Slot, people: &People) {
        for title in ["さん", "ちゃん", "くん", "君", "様", "氏", "先生", "先輩"] {
            for (at, _) in text.match_indices(title) {
                let Some(slot) = people.named_at_end(&text[..at]).filter(|slot| *slot != author) else { continue };
                self.address(slot, if at < 40 { Address::Directed } else { Address::Named });
            }
        }
    }

    fn note_marks(&mut self, body: &str) {
        let (automaton, marks) = &*PHRASES;
        for found in automaton.find_overlapping_iter(body) {
            let mark = marks[found.pattern()];
            let inner = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric());
            let latin = body.as_bytes()[found.start()].is_ascii_alphanumeric();
            let before = found.start().checked_sub(1).map(|at| body.as_bytes()[at]);
            if !latin || !(inner(before) || inner(body.as_bytes().get(found.end()).copied())) {
                self.marks.add(mark);
            }
        }
        if is_filler(body) {
            self.marks.add(Marks::FILLER);
        }
        let signs = Signs::of(body);
        if (signs.has(Signs::COLON) && body.contains("://")) || (signs.has(Signs::DOT) && body.contains("www.")) {
            self.marks.add(Marks::LINK);
        }
        if signs.has(Signs::CODE) || (signs.has(Signs::DASH) && body.contains("--")) {
            self.marks.add(Marks::CODE);
        }
        let bare = body.trim_end();
        if bare.ends_with([',', ':', '、', '…', '-']) || bare.ends_with("..") {
            self.marks.add(Marks::UNFINISHED);
        }
        if bare.ends_with(['!', '！']) {
            self.marks.add(Marks::EXCLAIMS);
        }
        if signs.has(Signs::DIGIT) {
            self.marks.add(Marks::DIGITS);
        }
        let end = bare.trim_end_matches(|c: char| c.is_whitespace() || "!！。.）)ｗw笑~〜…".contains(c));
        let asks = end.ends_with(['?', '？', 'か'])
            || ["かな", "かしら", "かね"].iter().any(|particle| end.ends_with(particle));
        let somewhere =
            (signs.has(Signs::ASKS) || (signs.has(Signs::WIDE) && body.contains('？'))) && !self.marks.has(Marks::LINK);
        self.question = if asks { 2 } else { u8::from(somewhere) };
    }

    fn take_words(&mut self, body: &str, lexicon: &Lexicon) {
        let (mut read, mut known, mut before) = (0u32, 0u32, hash_of(START));
        let mut weights = [0i32; TELLS.len()];
        let mut width = 0u32;
        each_word(body, &mut width, |hash, kind, _| {
            read += 1;
            if read > WORDS_READ_MAX as u32 {
                return;
            }
            let pair = lexicon.get(pair_hash(before, hash));
            before = hash;
            let single = lexicon.get(hash);
            known += u32::from(single.is_some());
            for word in single.into_iter().chain(pair) {
                weights.iter_mut().zip(word.weights).for_each(|(sum, weight)| *sum += i32::from(weight));
            }
            let rarity = single.map_or(RARITY_MAX, |word| word.rarity);
            if kind == Kind::Content && rarity > RARITY_WORTH {
                self.keep(hash, rarity);
            }
        });
        self.width = log_steps(width.into());
        self.tells = weights.map(centred);
        self.known = (known * 8).checked_div(read.min(WORDS_READ_MAX as u32)).unwrap_or(0) as u8;
    }

    fn keep(&mut self, hash: u32, rarity: u8) {
        let len = usize::from(self.words_len);
        let short = ((hash ^ (hash >> 16)) as u16).max(1);
        if len < WORDS_MAX && !self.words[..len].contains(&short) {
            self.words[len] = short;
            self.rarities[len] = rarity;
            self.words_len += 1;
            self.bits |= 1 << (short & 63);
        }
    }
}

/// The kinds of bytes a text has, one bit for each: found in one pass.
#[derive(Clone, Copy)]
struct Signs(u8);

impl Signs {
    const CODE: u8 = 1;
    const DIGIT: u8 = 2;
    const ASKS: u8 = 4;
    const COLON: u8 = 8;
    const DOT: u8 = 16;
    const DASH: u8 = 32;
    /// A sign of full width may begin here.
    const WIDE: u8 = 64;

    const KINDS: [u8; 256] = {
        let mut kinds = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            kinds[byte] = match byte as u8 {
                b'/' | b'=' | b'`' | b'{' | b'|' | b'\\' | b'<' | b'$' | b'~' => Signs::CODE,
                b'0'..=b'9' => Signs::DIGIT,
                b'?' => Signs::ASKS,
                b':' => Signs::COLON,
                b'.' => Signs::DOT,
                b'-' => Signs::DASH,
                0xef => Signs::WIDE,
                _ => 0,
            };
            byte += 1;
        }
        kinds
    };

    fn of(text: &str) -> Signs {
        Signs(text.bytes().fold(0, |signs, byte| signs | Signs::KINDS[usize::from(byte)]))
    }

    fn has(self, kind: u8) -> bool {
        self.0 & kind != 0
    }
}

/// Who is named by this run of text, and whether it is marked as a call: `bob:`, `@bob`, `bob,`.
fn named_by(chunk: &str, people: &People) -> Option<(Slot, bool)> {
    let mut name = chunk.trim_start_matches(['@', '＠']);
    let mut marked = name.len() < chunk.len();
    for _ in 0..3 {
        if name.is_empty() {
            return None;
        }
        if let Some(slot) = people.named(name) {
            return Some((slot, marked));
        }
        let last = name.chars().next_back().filter(|c| ":,;.?!)>~、。：".contains(*c))?;
        marked |= matches!(last, ':' | ',' | ';' | '>' | '、' | '：');
        name = &name[..name.len() - last.len_utf8()];
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Worth comparing between messages.
    Content,
    /// Particles and endings.
    Function,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    None,
    Spaced,
    Han,
    Hiragana,
    Katakana,
}

fn script(c: char) -> Script {
    match c {
        '\0'..='\x7f' => {
            if c.is_ascii_alphanumeric() {
                Script::Spaced
            } else {
                Script::None
            }
        }
        'ぁ'..='ゟ' => Script::Hiragana,
        'ァ'..='ヿ' | 'ｦ'..='ﾟ' => Script::Katakana,
        '一'..='鿿' | '㐀'..='䶿' | '々' => Script::Han,
        _ if c.is_alphanumeric() => Script::Spaced,
        _ => Script::None,
    }
}

/// The words of a text, in lower case, without apostrophes; a change of script ends a word.
pub fn each_word<'a>(text: &'a str, width: &mut u32, mut word: impl FnMut(u32, Kind, &'a str)) {
    let mut current = Script::None;
    let mut hasher = Hasher::default();
    let (mut letters, mut start) = (0u32, 0);
    let mut end = |current: Script, hasher: Hasher, letters: u32, run: &'a str| {
        let kind = match current {
            Script::None => return,
            Script::Hiragana => Kind::Function,
            _ if letters < 2 => Kind::Function,
            Script::Spaced | Script::Han | Script::Katakana => Kind::Content,
        };
        word(hasher.finish(), kind, run);
    };
    for (at, c) in text.char_indices() {
        *width += if (c as u32) < 0x1100 { 1 } else { 2 };
        if matches!(c, '\'' | '’') && current == Script::Spaced {
            continue;
        }
        let next = script(c);
        if next != current || (next == Script::Han && letters == 2) {
            end(current, hasher, letters, &text[start..at]);
            (current, hasher, letters, start) = (next, Hasher::default(), 0, at);
        }
        if next != Script::None {
            letters += 1;
            hasher = if c.is_ascii() {
                hasher.with(c.to_ascii_lowercase() as u8)
            } else {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().fold(hasher, Hasher::with)
            };
        }
    }
    end(current, hasher, letters, &text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Time;

    fn people() -> People {
        let mut people = People::default();
        for (key, name) in [(1, "alice"), (2, "Bob_"), (3, "田中@大阪"), (4, "Taro Yamada"), (5, "高橋健")] {
            people.meet(key, name, false, Time(0));
        }
        people
    }

    fn reading(text: &str) -> Reading {
        read(text, 0, &people(), &Lexicon::default())
    }

    #[test]
    fn names_are_found_where_they_call() {
        for (text, to, address) in [
            ("bob_: yes", Some(1), Address::Directed),
            ("@Bob_ yes", Some(1), Address::Directed),
            ("Bob_, yes", Some(1), Address::Directed),
            ("yes, says bob_", Some(1), Address::Named),
            ("田中さん、どうですか", Some(2), Address::Directed),
            ("高橋さん来ますか", Some(4), Address::Directed),
            ("alice、それ", None, Address::Nobody),
            ("bob_、それ", Some(1), Address::Directed),
            ("@田中 どうですか", Some(2), Address::Directed),
            ("taro yamada: hi", Some(3), Address::Directed),
            ("alice: to myself", None, Address::Nobody),
            ("bobby: yes", None, Address::Nobody),
        ] {
            let reading = reading(text);
            assert_eq!((reading.to[0], reading.address), (to, address), "{text}");
        }
    }

    #[test]
    fn questions_are_seen_in_both_languages() {
        for text in ["how?", "本当に？", "できますか", "行くかな。", "really?!"] {
            assert_eq!(reading(text).question, 2, "{text}");
        }
        assert_eq!(reading("why? tell me").question, 1);
        assert_eq!(reading("see http://a.example/?q=1 for that").question, 0);
        assert!(reading("誰か教えて").marks.has(Marks::CALL));
    }

    #[test]
    fn scripts_part_words() {
        let mut words = Vec::new();
        each_word("Rustの日付処理、don't ライブラリ", &mut 0, |_, kind, run| {
            words.push((run, kind == Kind::Content))
        });
        let expected =
            [("Rust", true), ("の", false), ("日付", true), ("処理", true), ("don't", true), ("ライブラリ", true)];
        assert_eq!(words, expected);
    }
}
