//! Whether a message is received or skipped: repeated, too late, and whom it is addressed to.

use super::turn::Turn;
use crate::listen::{Address, addressee};
use crate::trace::Unheard;
use crate::types::{Flags, HeardAs, Message, Span, Voice, stable_hash};

/// A message that is to be remembered.
pub(super) struct Incoming {
    /// What is detected once about it.
    pub(super) flags: Flags,
    pub(super) address: Address,
    /// How the bot's name is used in it, if that does not call the bot.
    pub(super) heard_as: Option<HeardAs>,
    /// Why it is remembered and not answered, if it is too late.
    pub(super) late: Option<Unheard>,
}

impl Incoming {
    pub(super) fn is_for_me(&self) -> bool {
        matches!(self.address, Address::Me(_))
    }
}

/// `Err` if it is not to be remembered either.
pub(super) fn receive(turn: &mut Turn<'_>, message: &Message) -> Result<Incoming, Unheard> {
    if message.author.voice == Voice::Me {
        return Err(Unheard::Itself);
    }
    if is_repeated(turn, message) {
        return Err(Unheard::Repeated);
    }
    let flags = Flags::BOT.when(message.author.voice == Voice::Bot) | turn.policy.notice.of(&message.text);
    let (address, heard_as) = addressee_of(turn, message, flags);
    let late = too_late(turn, message, matches!(address, Address::Me(_)));
    if late.is_none() {
        turn.room.note_newest(message, turn.now);
    }
    Ok(Incoming { flags, address, heard_as, late })
}

fn addressee_of(turn: &Turn<'_>, message: &Message, flags: Flags) -> (Address, Option<HeardAs>) {
    let replies_to_me = message.reply.as_ref().is_some_and(|reply| {
        reply.to_me || reply.to.as_ref().is_some_and(|to| turn.place().is_own(stable_hash(0, to.as_str())))
    });
    addressee(turn.policy, message, flags.has(Flags::NAMED), replies_to_me, &turn.room.speakers)
}

/// Whether it was received before. A message dated ahead of its arrival has another time when it is received again.
fn is_repeated(turn: &Turn<'_>, message: &Message) -> bool {
    let place = turn.place();
    place.buffer.find(message.id.as_str()).is_some()
        || ((message.heard.is_some() || message.at <= turn.room.newest) && place.knows(message.id.as_str()))
}

/// Why it is remembered and not answered, if it is too late: soon for a message that the platform delayed, and after a
/// longer while for one that is late because the bot was disconnected and that addresses it.
fn too_late(turn: &Turn<'_>, message: &Message, addressed: bool) -> Option<Unheard> {
    let settings = &turn.policy.settings;
    let late_after = Span::seconds(settings.listen.late_after_seconds.into());
    if message.heard.is_none() {
        // Records of earlier versions are decided as they were then.
        let late = turn.room.newest.max(turn.now).since(message.at) > late_after;
        return (message.backfilled || late).then_some(Unheard::Late);
    }
    let late = turn.now.since(message.at);
    if late <= late_after {
        return None;
    }
    let limit = match (message.backfilled, addressed) {
        (true, true) => Span::minutes(settings.response.late_answer_minutes.into()).max(late_after),
        (true, false) => return Some(Unheard::Missed { late }),
        (false, _) => late_after,
    };
    let away = message.backfilled;
    (late > limit).then_some(Unheard::TooLate { late, limit, away })
}
