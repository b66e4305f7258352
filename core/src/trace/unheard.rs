//! Why a message was not received, or not answered.

use serde::{Deserialize, Serialize};

use crate::types::Span;

/// Why a message was skipped before any rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unheard {
    Itself,
    Empty,
    Direct,
    ChannelOff,
    OtherBot,
    /// Received and remembered, but other bots are not answered.
    BotNotAnswered,
    Repeated,
    /// Written by earlier versions.
    Late,
    /// It was said this long before it arrived; `away` says whether that is because the bot was away.
    TooLate {
        late: Span,
        limit: Span,
        away: bool,
    },
    /// The bot was away when it was said, and it does not address the bot.
    Missed {
        late: Span,
    },
}

impl Unheard {
    /// Whether it was remembered and not answered because it was late.
    pub fn is_late(self) -> bool {
        match self {
            Unheard::Late | Unheard::TooLate { .. } | Unheard::Missed { .. } => true,
            Unheard::Itself
            | Unheard::Empty
            | Unheard::Direct
            | Unheard::ChannelOff
            | Unheard::OtherBot
            | Unheard::BotNotAnswered
            | Unheard::Repeated => false,
        }
    }
}
