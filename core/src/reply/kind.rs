//! A reaction, a word, or an answer.

use crate::policy::Policy;
use crate::types::{Kind, MessageId, stable_hash};

/// By score: high is a full answer; the middle is a word, unless it is engaged; below is a reaction.
pub(crate) fn kind_for(policy: &Policy, score: Option<u8>, engaged: bool) -> Kind {
    let kinds = &policy.settings.kinds;
    let Some(score) = score.filter(|_| kinds.varied).map(u32::from) else { return Kind::Full };
    if score >= kinds.full_from {
        Kind::Full
    } else if score < kinds.acknowledge_from {
        Kind::Reaction
    } else if engaged {
        Kind::Full
    } else {
        Kind::Acknowledgement
    }
}

/// The same message always gets the same emoji.
pub(crate) fn emoji_for(policy: &Policy, message: &MessageId) -> Box<str> {
    let emoji = &policy.settings.kinds.emoji;
    let drawn = stable_hash(policy.settings.bot.seed, message.as_str()) % emoji.len() as u64;
    emoji[drawn as usize].as_str().into()
}
