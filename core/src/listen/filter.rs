//! Which messages are heard at all.

use crate::phrases::trim;
use crate::policy::Policy;
use crate::settings::OtherBots;
use crate::trace::Unheard;
use crate::types::{Message, Place, Visibility, Voice, own_id};

/// Checks what the message and the policy alone decide; `off` is whether the room was switched off by command.
pub(crate) fn filter(policy: &Policy, message: &Message, off: bool) -> Result<(), Unheard> {
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

pub(crate) fn listens_in(policy: &Policy, place: &Place) -> bool {
    let listen = &policy.settings.listen;
    let room = place.room.as_str();
    let named = |list: &[String]| list.iter().any(|name| name == "*" || name == room || name == own_id(room));
    named(&listen.channels) && !named(&listen.channels_off)
}
