//! What is known of a message without reading it again.

use serde::{Deserialize, Serialize};

/// What was detected once, when the message arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Flags(u8);

impl Flags {
    /// The bot's own post.
    pub(crate) const OWN: Flags = Flags(1);
    /// Another bot's.
    pub(crate) const BOT: Flags = Flags(2);
    /// Contains the bot's name.
    pub(crate) const NAMED: Flags = Flags(4);
    /// Contains a keyword.
    pub(crate) const KEYWORD: Flags = Flags(8);
    /// Asks for help or calls on everybody.
    pub(crate) const CALL: Flags = Flags(16);
    /// Thanks, says goodbye, or that this is all.
    pub(crate) const CLOSING: Flags = Flags(32);

    pub(crate) fn of_person(self) -> bool {
        !self.has(Flags::OWN | Flags::BOT)
    }

    /// Who said it, without what it says.
    pub(crate) fn voice_only(self) -> Flags {
        Flags(self.0 & (Flags::OWN.0 | Flags::BOT.0))
    }

    pub(crate) fn when(self, holds: bool) -> Flags {
        if holds { self } else { Flags(0) }
    }

    pub(crate) fn has(self, flag: Flags) -> bool {
        self.0 & flag.0 != 0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Flags;
    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}
