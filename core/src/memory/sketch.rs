//! A few rare words of a fact, as numbers: facts that say nearly the same share most of them, and are found without reading
//! all facts of a room.

use std::cmp::Reverse;

use super::words::{self, normal};
use crate::types::stable_hash;

/// Words of a sketch.
const WORDS: usize = 6;
const SEED: u64 = 0x736b_6574_6368;

/// The rarest words of a text, as numbers; the text itself if it has none.
pub fn sketch(content: &str) -> Vec<u64> {
    let mut found = words::words(content);
    found.sort();
    found.dedup();
    if found.is_empty() {
        return vec![stable_hash(SEED, normal(content.trim()).as_str())];
    }
    // A word that is not in the lexicon counts as the rarest.
    found.sort_by_cached_key(|word| (Reverse(words::rarity(word).unwrap_or(u8::MAX)), stable_hash(SEED, word)));
    found.truncate(WORDS);
    found.iter().map(|word| stable_hash(SEED, word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nearly_the_same_shares_most_of_it() {
        let shared = |a: &str, b: &str| {
            let (a, b) = (sketch(a), sketch(b));
            (a.iter().filter(|word| b.contains(word)).count(), a.len())
        };
        assert_eq!(shared("Ann likes green tea.", "ann likes GREEN tea"), (4, 4));
        let (same, of) = shared("The festival takes place in Tokyo in May", "The festival takes place in Osaka in May");
        assert!(same * 2 >= of, "{same} of {of}");
        assert_eq!(shared("Ann likes green tea", "Bob repaired the roof yesterday").0, 0);
        assert_eq!((shared("!!!", "!!!"), sketch("???").len()), ((1, 1), 1));
        assert_eq!(sketch("one two three four five six seven eight nine ten eleven twelve").len(), WORDS);
    }
}
