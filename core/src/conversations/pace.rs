//! How fast a room usually talks: an hour of silence is a long pause in one room and an ordinary gap in another.

use serde::{Deserialize, Serialize};

use crate::trees::{VALUES, log_steps};

/// A running mean of the time between two messages, in 256ths of [`log_steps`] of half seconds. Integers only, so that it
/// is the same on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UsualGap(u16);

/// Until a room is known: about two minutes.
const UNKNOWN: u16 = 32 << 8;
/// The divisor with which the difference to a new gap is taken over.
const PART: i32 = 24;

impl Default for UsualGap {
    fn default() -> UsualGap {
        UsualGap(UNKNOWN)
    }
}

impl UsualGap {
    /// Time since the previous message, in milliseconds; absent for the first.
    pub(crate) fn note(&mut self, gap: Option<u64>) {
        let Some(gap) = gap else { return };
        let change = ((i32::from(log_steps(gap / 500)) << 8) - i32::from(self.0)) / PART;
        self.0 = (i32::from(self.0) + change) as u16;
    }

    pub(crate) fn steps(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// A time, in steps, compared with the usual: the middle of the scale is the usual one.
    pub(crate) fn compare(self, steps: u8) -> u32 {
        (VALUES as i32 / 2 + i32::from(steps) - i32::from(self.steps())).clamp(0, VALUES as i32 - 1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_follows_the_room() {
        let mut usual = UsualGap::default();
        assert_eq!(usual.compare(32), 32);
        (0..200).for_each(|_| usual.note(Some(3_600_000)));
        assert!(usual.compare(log_steps(7200)).abs_diff(32) <= 1, "{usual:?}");
        assert!(usual.compare(log_steps(20)) < 10, "{usual:?}");
        usual.note(None);
        (0..200).for_each(|_| usual.note(Some(0)));
        assert_eq!(usual.steps(), 0);
    }
}
