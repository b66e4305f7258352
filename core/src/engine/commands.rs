//! Commands, which no model decides about.

use super::turn::Turn;
use super::{end, outbox};
use crate::input::Command;
use crate::room::Mute;
use crate::trace::{Cause, RestStopped};

pub(super) fn run_command(turn: &mut Turn<'_>, command: Command) {
    match command {
        Command::Mute(None) => turn.room.set_mute(Some(Mute::Open), false, turn.now),
        Command::Mute(Some(span)) => turn.room.set_mute(Some(Mute::Until(turn.now + span)), false, turn.now),
        Command::Unmute => turn.room.set_mute(None, false, turn.now),
        Command::Listen(on) => turn.room.off = !on,
        Command::Talk(share) => turn.room.talk.get_or_insert_default().asked = share,
        Command::CancelReminder(number) => turn.room.cancel_reminder(number),
        Command::Reset | Command::Left => (),
    }
}

/// How a command affects what is pending in one place.
pub(super) fn drop_after(turn: &mut Turn<'_>, command: Command) {
    match command {
        Command::Mute(_) | Command::Listen(false) => end::call_off_as_muted(turn),
        Command::Reset | Command::Left => {
            outbox::stop(turn, &RestStopped::Forgotten);
            for pending in turn.place_mut().take_slots() {
                end::end(turn, *pending, &Cause::Forgotten);
            }
        }
        Command::Unmute | Command::Talk(_) | Command::Listen(true) | Command::CancelReminder(_) => (),
    }
}
