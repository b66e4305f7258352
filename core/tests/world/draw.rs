//! Steps drawn from a seed.

use aizuchi_core::input::Command;
use aizuchi_core::types::Span;

use super::{Step, What};

/// Steps drawn from a seed, faster than a strategy would.
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    pub fn step(&mut self) -> Step {
        let after_ms = [self.next(2_000), self.next(20_000), self.next(300_000)][self.next(3) as usize];
        let what = match self.next(40) {
            0 => What::SaysLate { who: self.next(4) as u8, by_ms: self.next(200_000) },
            1 => What::Repeats(self.next(8) as u8),
            2 => What::Edits(self.next(8) as u8, self.next(18) as u8),
            3 => What::Deletes(self.next(8) as u8),
            4 if self.next(20) == 0 => {
                What::Orders([Command::Mute(Some(Span(60_000))), Command::Reset][self.next(2) as usize])
            }
            _ => What::Says {
                who: self.next(6) as u8,
                text: self.next(18) as u8,
                thread: (self.next(8) == 0) as u8,
                replies: self.next(8) == 0,
            },
        };
        Step { after_ms, room: self.next(3) as u8, what }
    }
}
