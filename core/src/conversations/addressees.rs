//! Whom a message speaks to: at most three, in the order in which they were found.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::participants::{NOBODY, Slot};

const ADDRESSEES_MAX: usize = 3;
/// No slot is as high.
const FREE: Slot = NOBODY - 1;

/// Filled from the beginning. Who was let go is [`NOBODY`], and still somebody who was spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addressees([Slot; ADDRESSEES_MAX]);

impl Default for Addressees {
    fn default() -> Addressees {
        Addressees([FREE; ADDRESSEES_MAX])
    }
}

impl Addressees {
    #[inline]
    pub(crate) fn first(self) -> Option<Slot> {
        Some(self.0[0]).filter(|slot| *slot != FREE)
    }

    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = Slot> {
        self.0.into_iter().filter(|slot| *slot != FREE)
    }

    #[inline]
    pub(crate) fn contains(self, slot: Slot) -> bool {
        // Most messages speak to nobody, and nobody has the slot that is free.
        self.0[0] != FREE && self.0.into_iter().fold(false, |found, there| found | (there == slot))
    }

    /// Whether there was space for one more, or they are there already.
    pub(super) fn add(&mut self, slot: Slot) -> bool {
        let space = self.0.iter_mut().find(|there| **there == FREE || **there == slot);
        space.map(|there| *there = slot).is_some()
    }

    /// Somebody else has this slot now.
    pub(super) fn let_go(&mut self, slot: Slot) {
        self.0.iter_mut().filter(|there| **there == slot).for_each(|there| *there = NOBODY);
    }
}

/// Written as slots that may be absent.
impl Serialize for Addressees {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.map(|slot| Some(slot).filter(|slot| *slot != FREE)).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Addressees {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Addressees, D::Error> {
        let slots = <[Option<Slot>; ADDRESSEES_MAX]>::deserialize(deserializer)?;
        Ok(Addressees(slots.map(|slot| slot.unwrap_or(FREE))))
    }
}
