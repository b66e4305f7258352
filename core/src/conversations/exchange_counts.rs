//! Who spoke with whom recently.

use super::participants::{NOBODY, Slot};
use super::tracker::Conversations;

/// A value for each person; unknown people share the last slot.
pub(super) struct PerPerson<T>([T; 128]);

impl<T: Copy + Default> PerPerson<T> {
    pub(super) fn new() -> PerPerson<T> {
        PerPerson([T::default(); 128])
    }

    pub(super) fn of(&mut self, slot: Slot) -> &mut T {
        &mut self.0[usize::from(slot) % 128]
    }
}

/// How many messages people exchanged.
pub(super) struct ExchangeCounts {
    /// By slot: messages exchanged with this author, and with anybody.
    pub(super) with_me: PerPerson<u8>,
    pub(super) all: PerPerson<u8>,
    pub(super) most: u8,
}

impl ExchangeCounts {
    pub(super) fn of(conversations: &Conversations, me: Slot) -> ExchangeCounts {
        let mut exchanges = ExchangeCounts { with_me: PerPerson::new(), all: PerPerson::new(), most: 0 };
        for line in conversations.recent() {
            let to = line.reading.to.first().unwrap_or(line.parent_author);
            if to == NOBODY || to == line.author {
                continue;
            }
            *exchanges.all.of(line.author) += 1;
            *exchanges.all.of(to) += 1;
            let other = if line.author == me { to } else { line.author };
            if line.author == me || to == me {
                let count = exchanges.with_me.of(other);
                *count += 1;
                exchanges.most = exchanges.most.max(*count);
            }
        }
        exchanges
    }
}
