//! What single words reveal: how often they begin a conversation or draw somebody in, and how rare they are.

/// What a word can reveal about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordSignal {
    /// It starts a conversation.
    Starts,
    /// It continues what its author said.
    GoesOn,
    /// Somebody answers it.
    Answered,
    /// Somebody who is not in the conversation answers it.
    Draws,
}

pub const TELLS: [WordSignal; 4] = [WordSignal::Starts, WordSignal::GoesOn, WordSignal::Answered, WordSignal::Draws];

/// A word's weights, one for each of [`TELLS`], in sixteenths of log-odds; and its rarity in half powers of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub weights: [i8; TELLS.len()],
    pub rarity: u8,
}

/// Rarity of an unknown word.
pub const RARITY_MAX: u8 = 20;

/// A token before the first word: how a message begins reveals more than what it says later.
pub const START: &str = "^";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon {
    /// Open addressing; a hash of 0 is an empty slot.
    slots: Vec<(u32, Word)>,
}

impl Lexicon {
    pub fn new(words: &[(u32, Word)]) -> Lexicon {
        let size = (words.len() * 2).next_power_of_two().max(2);
        let mut lexicon = Lexicon { slots: vec![(0, Word::default()); size] };
        for &(hash, word) in words.iter().filter(|(hash, _)| *hash != 0) {
            let mut at = hash as usize & (size - 1);
            while lexicon.slots[at].0 != 0 && lexicon.slots[at].0 != hash {
                at = (at + 1) & (size - 1);
            }
            lexicon.slots[at] = (hash, word);
        }
        lexicon
    }

    /// Parses a list: a word or two neighbouring words, a tab, its weights and its rarity.
    pub fn parse(text: &str) -> Result<Lexicon, String> {
        let mut words = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let fault = || format!("line {} is not a word and its numbers", number + 1);
            let (word, numbers) = line.split_once('\t').ok_or_else(fault)?;
            let numbers: Vec<i8> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
            let [starts, goes_on, answered, draws, rarity] = numbers[..] else { return Err(fault()) };
            let word_of = Word { weights: [starts, goes_on, answered, draws], rarity: rarity.unsigned_abs() };
            words.push((hash_of(word), word_of));
        }
        Ok(Lexicon::new(&words))
    }

    pub fn get(&self, hash: u32) -> Option<Word> {
        let last = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & last;
        loop {
            match self.slots[at].0 {
                0 => return None,
                found if found == hash => return Some(self.slots[at].1),
                _ => at = (at + 1) & last,
            }
        }
    }
}

/// Hash of a word in lower case, or of two words with a space between them.
pub fn hash_of(words: &str) -> u32 {
    match words.split_once(' ') {
        None => word_hash(words),
        Some((first, second)) => pair_hash(word_hash(first), word_hash(second)),
    }
}

pub(super) fn pair_hash(first: u32, second: u32) -> u32 {
    (first.rotate_left(7) ^ second).wrapping_mul(0x9e37_79b1) | 1
}

fn word_hash(word: &str) -> u32 {
    word.bytes().fold(Hasher::default(), Hasher::with).finish()
}

/// A small hash, letter by letter.
#[derive(Clone, Copy)]
pub(super) struct Hasher(u32);

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher(0x811c_9dc5)
    }
}

impl Hasher {
    pub(super) fn with(self, byte: u8) -> Hasher {
        Hasher((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Never 0.
    pub(super) fn finish(self) -> u32 {
        let mixed = (self.0 ^ (self.0 >> 15)).wrapping_mul(0x85eb_ca6b);
        (mixed ^ (mixed >> 13)) | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_pairs_are_found_again() {
        let lexicon = Lexicon::parse("anyone\t12 0 9 1 8\ndoes anyone\t5 0 0 -3 11\n").expect("it parses");
        assert_eq!(lexicon.get(hash_of("anyone")), Some(Word { weights: [12, 0, 9, 1], rarity: 8 }));
        assert_eq!(lexicon.get(hash_of("does anyone")).map(|word| word.weights[3]), Some(-3));
        assert_eq!(lexicon.get(hash_of("nobody")), None);
        assert_eq!(Lexicon::default().get(5), None);
        assert!(Lexicon::parse("anyone 12 9 8").is_err());
    }
}
