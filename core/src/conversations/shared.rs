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
        let mut hits = [0u16; LINES_MAX];
        let mut seen = [0u8; WORDS_MAX];
        for (hit, (line, words)) in hits.iter_mut().zip(conversations.lines.recent_with_words()) {
            *hit = arrival.words.shared_with(words);
            if *hit != 0 {
                ones(*hit).for_each(|word| seen[word] += 1);
                let most = if line.author == arrival.author { &mut lately.repeat } else { &mut lately.echo };
                *most = (*most).max(hit.count_ones() as u8);
            }
        }
        let mut shared =
            Shared { per_line: [0; LINES_MAX], best_word: [0; LINES_MAX], per_conversation: [0; LINES_MAX + 2] };
        for (index, line) in conversations.recent().iter().enumerate().filter(|(index, _)| hits[*index] != 0) {
            for word in ones(hits[index]) {
                let rarity = arrival.words.rarities[word].saturating_sub(2 * seen[word].ilog2() as u8);
                shared.per_line[index] += u16::from(rarity);
                shared.best_word[index] = shared.best_word[index].max(rarity);
            }
            shared.per_conversation[usize::from(line.conversation)] += shared.per_line[index];
        }
        shared
    }
}

/// The places of the bits that are set.
fn ones(mut bits: u16) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let index = bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
        (index < u16::BITS).then_some(index as usize)
    })
}
