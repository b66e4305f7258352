//! What single words tell: how often they begin a conversation or draw somebody in, and how rare they are.

/// A word's weights, in sixteenths of log-odds, and its rarity in half powers of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Word {
    pub starts: i8,
    pub draws: i8,
    pub rarity: u8,
}

/// Rarity of a word that was never met.
pub const RARITY_MAX: u8 = 20;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon {
    /// Open addressing; a hash of 0 is an empty slot.
    slots: Vec<(u32, Word)>,
    pub starts_bias: i32,
    pub draws_bias: i32,
}

impl Lexicon {
    pub fn new(words: &[(u32, Word)], starts_bias: i32, draws_bias: i32) -> Lexicon {
        let size = (words.len() * 2).next_power_of_two().max(2);
        let mut lexicon = Lexicon { slots: vec![(0, Word::default()); size], starts_bias, draws_bias };
        for &(hash, word) in words.iter().filter(|(hash, _)| *hash != 0) {
            let mut at = hash as usize & (size - 1);
            while lexicon.slots[at].0 != 0 && lexicon.slots[at].0 != hash {
                at = (at + 1) & (size - 1);
            }
            lexicon.slots[at] = (hash, word);
        }
        lexicon
    }

    /// Reads a list: a word or two neighbouring words, a tab, and the three numbers.
    pub fn parse(text: &str) -> Result<Lexicon, String> {
        let mut words = Vec::new();
        let mut biases = (0, 0);
        for (number, line) in text.lines().enumerate() {
            let fault = || format!("line {} is not a word and three numbers", number + 1);
            let (word, numbers) = line.split_once('\t').ok_or_else(fault)?;
            let numbers: Vec<i32> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
            let [starts, draws, rarity] = numbers[..] else { return Err(fault()) };
            if word.is_empty() {
                biases = (starts, draws);
                continue;
            }
            words.push((hash_of(word), Word { starts: starts as i8, draws: draws as i8, rarity: rarity as u8 }));
        }
        Ok(Lexicon::new(&words, biases.0, biases.1))
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

pub fn pair_hash(first: u32, second: u32) -> u32 {
    (first.rotate_left(7) ^ second).wrapping_mul(0x9e37_79b1) | 1
}

fn word_hash(word: &str) -> u32 {
    word.bytes().fold(Hasher::default(), Hasher::with).finish()
}

/// A small hash, letter by letter.
#[derive(Clone, Copy)]
pub struct Hasher(u32);

impl Default for Hasher {
    fn default() -> Hasher {
        Hasher(0x811c_9dc5)
    }
}

impl Hasher {
    pub fn with(self, byte: u8) -> Hasher {
        Hasher((self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    }

    /// Never 0.
    pub fn finish(self) -> u32 {
        let mixed = (self.0 ^ (self.0 >> 15)).wrapping_mul(0x85eb_ca6b);
        (mixed ^ (mixed >> 13)) | 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_pairs_are_found_again() {
        let lexicon = Lexicon::parse("\t-20 -30 0\nanyone\t12 9 8\ndoes anyone\t5 -3 11\n").expect("it parses");
        assert_eq!(lexicon.get(hash_of("anyone")), Some(Word { starts: 12, draws: 9, rarity: 8 }));
        assert_eq!(lexicon.get(hash_of("does anyone")).map(|word| word.draws), Some(-3));
        assert_eq!(lexicon.get(hash_of("nobody")), None);
        assert_eq!((lexicon.starts_bias, lexicon.draws_bias), (-20, -30));
        assert_eq!(Lexicon::default().get(5), None);
        assert!(Lexicon::parse("anyone 12 9 8").is_err());
    }
}
