//! Why a message was not heard, or not answered.

use serde::{Deserialize, Serialize};

use crate::types::Span;

/// Why a message was passed over before anything was thought about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unheard {
    Itself,
    Empty,
    Direct,
    ChannelOff,
    OtherBot,
    /// Heard and remembered, but other bots are not answered.
    BotNotAnswered,
    Repeated,
    /// As earlier versions noted it.
    Late,
    /// It was said so long before it reached us; `away` is whether that is because we were away.
    TooLate {
        late: Span,
        limit: Span,
        away: bool,
    },
    /// We were away when it was said, and it does not address us.
    Missed {
        late: Span,
    },
}

impl Unheard {
    /// Whether it was remembered and not answered because it came late.
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
