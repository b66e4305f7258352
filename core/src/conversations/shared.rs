//! The rare words a message shares with those before it.

use super::line::LINES_MAX;
use super::pairs::RecentContext;
use super::reading::WORDS_MAX;
use super::tracker::{Arrival, Conversations};

/// How rare the shared words are.
pub(super) struct Shared {
    pub(super) per_line: [u16; LINES_MAX],
    pub(super) best_word: [u8; LINES_MAX],
    pub(super) per_conversation: [u16; LINES_MAX + 2],
}

impl Shared {
    pub(super) fn of(conversations: &Conversations, arrival: &Arrival<'_>, lately: &mut RecentContext) -> Shared {
        let own = OwnWords::of(arrival.words.hashes());
        let mut hits = [0u16; LINES_MAX];
        let mut seen = [0u8; WORDS_MAX];
        for (hit, (line, words)) in hits.iter_mut().zip(conversations.lines.recent_with_words()) {
            *hit = own.shared_with(words);
            if *hit != 0 {
                ones(*hit).for_each(|word| seen[word] += 1);
                let most = if line.author == arrival.author { &mut lately.repeat } else { &mut lately.echo };
                *most = (*most).max(hit.count_ones() as u8);
            }
        }
        // What many of the lines say is less rare here.
        let rarities: [u8; WORDS_MAX] = std::array::from_fn(|word| {
            let common = 2 * seen[word].checked_ilog2().unwrap_or(0) as u8;
            arrival.words.rarities[word].saturating_sub(common)
        });
        let mut shared =
            Shared { per_line: [0; LINES_MAX], best_word: [0; LINES_MAX], per_conversation: [0; LINES_MAX + 2] };
        for (index, line) in conversations.recent().iter().enumerate().filter(|(index, _)| hits[*index] != 0) {
            for word in ones(hits[index]) {
                let rarity = rarities[word];
                shared.per_line[index] += u16::from(rarity);
                shared.best_word[index] = shared.best_word[index].max(rarity);
            }
            shared.per_conversation[usize::from(line.conversation)] += shared.per_line[index];
        }
        shared
    }
}

/// The words of the message, prepared for comparing those of 64 lines with them: without a branch, because whether a word is one
/// of them cannot be predicted.
struct OwnWords {
    /// No word is 0.
    hashes: [u16; WORDS_MAX.next_power_of_two()],
    /// By the lower byte of a hash, the index of the only one that may be equal.
    index_of: [u8; 1 << u8::BITS],
    /// Two of them have the same lower byte: each has to be compared.
    ambiguous: bool,
}

impl OwnWords {
    fn of(words: &[u16]) -> OwnWords {
        let mut own = OwnWords { hashes: [0; _], index_of: [0; 1 << u8::BITS], ambiguous: false };
        for (index, word) in words.iter().enumerate() {
            let found = &mut own.index_of[lower_byte(*word)];
            own.ambiguous |= index > 0 && lower_byte(own.hashes[usize::from(*found)]) == lower_byte(*word);
            (own.hashes[index], *found) = (*word, index as u8);
        }
        own
    }

    /// Of these words, those that another message has too: one bit for each.
    #[inline]
    fn shared_with(&self, other: &[u16]) -> u16 {
        let is_own = |word: u16, index: usize| u16::from(self.hashes[index] == word) << index;
        let mut shared = 0;
        if self.ambiguous {
            for word in other {
                (0..self.hashes.len()).for_each(|index| shared |= is_own(*word, index));
            }
            return shared;
        }
        for word in other {
            shared |= is_own(*word, usize::from(self.index_of[lower_byte(*word)]) % self.hashes.len());
        }
        shared
    }
}

fn lower_byte(word: u16) -> usize {
    usize::from(word as u8)
}

/// The places of the bits that are set.
fn ones(mut bits: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (index < u16::BITS).then_some(index as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_are_found_also_if_their_lower_bytes_are_equal() {
        let lines: [&[u16]; 4] = [&[], &[0x0102, 0x0302, 7], &[0x0302, 9, 0xff02], &[0x0202]];
        for (own, expected) in [
            (vec![], [0, 0, 0, 0]),
            (vec![0x0102, 9], [0, 0b01, 0b10, 0]),
            (vec![9, 0x0102, 0x0302], [0, 0b110, 0b101, 0]),
            ((1..=12).collect(), [0, 1 << 6, 1 << 8, 0]),
        ] {
            let words = OwnWords::of(&own);
            assert_eq!(lines.map(|line| words.shared_with(line)), expected, "{own:?}");
        }
    }
}
