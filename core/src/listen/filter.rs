//! Which messages are heard at all.

use serde::{Deserialize, Serialize};

use super::trim;
use crate::policy::Policy;
use crate::settings::OtherBots;
use crate::types::{Message, Place, Span, Visibility, Voice, own_id};

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

/// What can be told from the message and the policy; `off` is whether the room was switched off by order.
pub fn filter(policy: &Policy, message: &Message, off: bool) -> Result<(), Unheard> {
    let listen = &policy.settings.listen;
    if off || !listens_in(policy, &message.place) {
        return Err(Unheard::ChannelOff);
    }
    if message.visibility == Visibility::Direct && !listen.direct_messages {
        return Err(Unheard::Direct);
    }
    if message.author.voice == Voice::Bot && listen.other_bots == OtherBots::Ignored {
        return Err(Unheard::OtherBot);
    }
    if trim(&message.text).is_empty() {
        return Err(Unheard::Empty);
    }
    Ok(())
}

pub fn listens_in(policy: &Policy, place: &Place) -> bool {
    let listen = &policy.settings.listen;
    let room = place.room.as_str();
    let own_id = own_id(room);
    let named = |list: &[String]| list.iter().any(|name| name == "*" || name == room || name == own_id);
    named(&listen.channels) && !named(&listen.channels_off)
}
