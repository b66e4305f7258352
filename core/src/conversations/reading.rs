//! What one text says on its face: whom it names, whether it asks, and its words as hashes.

use serde::{Deserialize, Serialize};

use super::addressees::Addressees;
use super::lexicon::{Lexicon, RARITY_MAX, START, TELLS, WordSignal, hash_of, pair_hash};
use super::marks::TextMarks;
use super::participants::{NOBODY, Participants, Slot};
use super::words::{WordKind, each_word};
use crate::trees::{VALUES, log_steps};

/// Words kept of a message: the first ones that are not everybody's.
pub(super) const WORDS_MAX: usize = 12;
/// Words looked at in a message: who writes more has said what it is about.
const WORDS_READ_MAX: usize = 60;
/// A word rarer than this, in half powers of two, is worth comparing.
const RARITY_WORTH: u8 = 8;

const TITLES: [&str; 8] = ["さん", "ちゃん", "くん", "君", "様", "氏", "先生", "先輩"];

/// How directly somebody is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Directness {
    #[default]
    Nobody,
    /// The name is somewhere in the text.
    Named,
    /// The text begins with the name, or the platform says so.
    Directed,
}

/// Nine bytes, because one is kept for each line of a place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    pub to: Addressees,
    /// What its words tell, and above that its width, in six bits each.
    pub(super) words: [u8; 4],
    /// The marks; above them, in two bits each, what it asks and how directly it speaks to somebody.
    pub(super) signs: [u8; 2],
}

/// As many as a value below [`VALUES`] takes.
const VALUE_BITS: u32 = VALUES.ilog2();
const WIDTH_BIT: u32 = VALUE_BITS * TELLS.len() as u32;
const QUESTION_BIT: u32 = TextMarks::BITS;
const DIRECTNESS_BIT: u32 = QUESTION_BIT + 2;

/// Sixteenths of log-odds around the middle of the scale of a feature.
pub(crate) fn centred(weight: i32) -> u8 {
    (32 + weight / 4).clamp(0, VALUES as i32 - 1) as u8
}

/// The words of a message that are not everybody's.
#[derive(Default)]
pub(crate) struct RareWords {
    /// Hashes, none of them 0; the rest are 0.
    hashes: [u16; WORDS_MAX],
    /// How rare each is: looked at when the message arrives, and not kept.
    pub(super) rarities: [u8; WORDS_MAX],
    len: usize,
    /// Share of all words that the lexicon knows, in eighths; not kept either.
    pub(crate) known: u8,
}

impl RareWords {
    fn keep(&mut self, hash: u32, rarity: u8) {
        let short = ((hash ^ (hash >> 16)) as u16).max(1);
        if self.len < WORDS_MAX && !self.hashes().contains(&short) {
            self.hashes[self.len] = short;
            self.rarities[self.len] = rarity;
            self.len += 1;
        }
    }

    pub(super) fn hashes(&self) -> &[u16] {
        &self.hashes[..self.len]
    }
}

/// Reads a text said by one of these people.
pub(super) fn read(text: &str, author: Slot, people: &Participants, lexicon: &Lexicon) -> (Reading, RareWords) {
    let mut reading = Reading::default();
    let mut words = RareWords::default();
    let text = &text[..text.floor_char_boundary(2000)];
    let body = reading.find_names(text, author, people);
    let (marks, question) = TextMarks::of(body);
    reading.set_signs(marks, question, reading.directness());
    reading.take_words(body, lexicon, &mut words);
    (reading, words)
}

/// The text without the names it begins with.
pub(super) fn body<'a>(text: &'a str, author: Slot, people: &Participants) -> &'a str {
    Reading::default().find_names(text, author, people)
}

impl Reading {
    pub(crate) fn address(&mut self, slot: Slot, how: Directness) {
        if self.to.add(slot) {
            self.set_signs(self.marks(), self.question(), self.directness().max(how));
        }
    }

    pub(super) fn set_signs(&mut self, marks: TextMarks, question: u8, directness: Directness) {
        let question = u16::from(question.min(2)) << QUESTION_BIT;
        self.signs = (marks.bits() | question | (directness as u16) << DIRECTNESS_BIT).to_le_bytes();
    }

    pub(super) fn set_words(&mut self, tells: [u8; TELLS.len()], width: u8) {
        let values = tells.into_iter().chain([width]).rev();
        let packed = values.fold(0, |packed, value| (packed << VALUE_BITS) | (u32::from(value) % VALUES as u32));
        self.words = packed.to_le_bytes();
    }

    /// Width in columns, an ideograph says as much as two letters; in [`log_steps`].
    #[inline]
    pub(crate) fn width(&self) -> u8 {
        (u32::from_le_bytes(self.words) >> WIDTH_BIT) as u8
    }

    #[inline]
    fn signs(&self) -> u16 {
        u16::from_le_bytes(self.signs)
    }

    #[inline]
    pub(crate) fn marks(&self) -> TextMarks {
        TextMarks::of_bits(self.signs())
    }

    /// 0 no question, 1 asks somewhere, 2 ends by asking.
    #[inline]
    pub(crate) fn question(&self) -> u8 {
        (self.signs() >> QUESTION_BIT & 3) as u8
    }

    #[inline]
    pub(crate) fn directness(&self) -> Directness {
        match self.signs() >> DIRECTNESS_BIT {
            0 => Directness::Nobody,
            1 => Directness::Named,
            _ => Directness::Directed,
        }
    }

    pub(crate) fn addresses(&self, slot: Slot) -> bool {
        slot != NOBODY && self.to.contains(slot)
    }

    /// What its words tell, [`centred`].
    #[inline]
    pub(crate) fn tells(&self, what: WordSignal) -> u8 {
        (u32::from_le_bytes(self.words) >> (VALUE_BITS * what as u32)) as u8 % VALUES as u8
    }

    /// Finds whom the text names; returns what follows the names it begins with.
    fn find_names<'a>(&mut self, text: &'a str, author: Slot, people: &Participants) -> &'a str {
        let mut body = text.trim_start();
        let begins = people.named_at_start(body.trim_start_matches(['@', '＠']));
        if let Some((slot, len)) = begins.filter(|(slot, _)| *slot != author) {
            self.address(slot, Directness::Directed);
            body = body.trim_start_matches(['@', '＠'])[len..].trim_start_matches(|c: char| !c.is_alphanumeric());
        }
        while let Some(chunk) = body.split_whitespace().next() {
            let Some((slot, directed)) = named_by(chunk, people).filter(|(slot, _)| *slot != author) else { break };
            if !directed
                && self.directness() == Directness::Nobody
                && !body[chunk.len()..].trim_start().is_empty()
                && chunk.len() < 3
            {
                break;
            }
            self.address(slot, if directed { Directness::Directed } else { Directness::Named });
            body = body[chunk.len()..].trim_start();
        }
        for chunk in body.split_whitespace().skip(1).filter(|chunk| chunk.len() > 2) {
            if let Some((slot, directed)) = named_by(chunk, people).filter(|(slot, _)| *slot != author) {
                let at = chunk.starts_with(['@', '＠']) && directed;
                self.address(slot, if at { Directness::Directed } else { Directness::Named });
            }
        }
        if !text.is_ascii() {
            self.find_titles(text, author, people);
        }
        body
    }

    /// Names with a Japanese title, wherever they stand.
    fn find_titles(&mut self, text: &str, author: Slot, people: &Participants) {
        let mut found = Vec::new();
        for (at, c) in text.char_indices().filter(|(_, c)| matches!(c, 'さ' | 'ち' | 'く' | '君' | '様' | '氏' | '先'))
        {
            let title = TITLES.iter().position(|title| title.starts_with(c) && text[at..].starts_with(title));
            found.extend(title.map(|title| (title, at)));
        }
        // Whose title comes first in the list is the one who is spoken to.
        found.sort_unstable();
        for (_, at) in found {
            let Some(slot) = people.named_at_end(&text[..at]).filter(|slot| *slot != author) else { continue };
            self.address(slot, if at < 40 { Directness::Directed } else { Directness::Named });
        }
    }

    fn take_words(&mut self, body: &str, lexicon: &Lexicon, words: &mut RareWords) {
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
            if kind == WordKind::Content && rarity > RARITY_WORTH {
                words.keep(hash, rarity);
            }
        });
        self.set_words(weights.map(centred), log_steps(width.into()));
        words.known = (known * 8).checked_div(read.min(WORDS_READ_MAX as u32)).unwrap_or(0) as u8;
    }
}

/// Who is named by this run of text, and whether it is marked as a call: `bob:`, `@bob`, `bob,`.
fn named_by(chunk: &str, people: &Participants) -> Option<(Slot, bool)> {
    let mut name = chunk.trim_start_matches(['@', '＠']);
    let mut marked = name.len() < chunk.len();
    for _ in 0..3 {
        if name.is_empty() {
            return None;
        }
        if let Some(slot) = people.named(name) {
            return Some((slot, marked));
        }
        let last = name.chars().next_back().filter(|c| ends_name(*c))?;
        marked |= matches!(last, ':' | ',' | ';' | '>' | '、' | '：');
        name = &name[..name.len() - last.len_utf8()];
    }
    None
}

/// Whether this sign may follow a name. Compared one by one: a search in a text takes longer, and every word ends here.
fn ends_name(c: char) -> bool {
    matches!(c, ':' | ',' | ';' | '.' | '?' | '!' | ')' | '>' | '~' | '、' | '。' | '：')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Time;

    fn people() -> Participants {
        let mut people = Participants::default();
        for (key, name) in [(1, "alice"), (2, "Bob_"), (3, "田中@大阪"), (4, "Taro Yamada"), (5, "高橋健")] {
            people.meet(key, name, false, Time(0));
        }
        people
    }

    fn reading(text: &str) -> Reading {
        read(text, 0, &people(), &Lexicon::default()).0
    }

    #[test]
    fn names_are_found_where_they_call() {
        for (text, to, address) in [
            ("bob_: yes", Some(1), Directness::Directed),
            ("@Bob_ yes", Some(1), Directness::Directed),
            ("Bob_, yes", Some(1), Directness::Directed),
            ("yes, says bob_", Some(1), Directness::Named),
            ("田中さん、どうですか", Some(2), Directness::Directed),
            ("高橋さん来ますか", Some(4), Directness::Directed),
            ("alice、それ", None, Directness::Nobody),
            ("bob_、それ", Some(1), Directness::Directed),
            ("@田中 どうですか", Some(2), Directness::Directed),
            ("taro yamada: hi", Some(3), Directness::Directed),
            ("alice: to myself", None, Directness::Nobody),
            ("bobby: yes", None, Directness::Nobody),
        ] {
            let reading = reading(text);
            assert_eq!((reading.to.first(), reading.directness()), (to, address), "{text}");
        }
    }
}
