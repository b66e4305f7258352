//! Adds a message to working memory, and counts it for the talk share.

use super::alarm;
use super::receive::Incoming;
use super::turn::Turn;
use crate::room::BufferEntry;
use crate::types::{Message, Span, Voice, stable_hash};

pub(super) fn remember(turn: &mut Turn<'_>, message: &Message, incoming: &Incoming) {
    if incoming.late.is_some() {
        return keep_late(turn, message, incoming);
    }
    if incoming.is_for_me() && !turn.policy.settings.listen.addressed_kept {
        let id = stable_hash(0, message.id.as_str());
        turn.place_mut().bot_mut().note_known(id);
    } else {
        keep(turn, message, incoming);
    }
    if message.author.voice == Voice::Person
        && let Some((talk, share)) = turn.room.talk_mut(turn.policy)
    {
        talk.note_heard(share, turn.policy.settings.judge.calls_per_contribution);
    }
}

fn keep(turn: &mut Turn<'_>, message: &Message, incoming: &Incoming) {
    let listen = &turn.policy.settings.listen;
    let (place, speakers) = turn.room.split(turn.thread.as_ref());
    let speaker = speakers.hold(message.author.id.as_str(), &message.author.name);
    let (conversation, flags) = (turn.conversation, incoming.flags);
    let entry =
        BufferEntry { at: message.at, speaker, flags, conversation, id: message.id.as_str(), text: &message.text };
    let messages_max = place.messages_max(listen.buffer_messages as usize);
    // A message that waited for the bot is inserted at its time, unless it would be the first to be dropped again.
    let late_after = Span::seconds(listen.late_after_seconds.into());
    let waited = message.heard.is_some() && turn.now.since(message.at) > late_after;
    if !(waited && place.buffer.insert_by_time(&entry, messages_max, |speaker| speakers.release(speaker))) {
        place.buffer.push(&entry, messages_max, |speaker| speakers.release(speaker));
    }
    if message.author.voice == Voice::Person {
        place.note_person(message.at, waited);
    }
    if place.alarm.is_none() && listen.buffer_minutes > 0 {
        alarm::set_alarm(turn);
    }
}

/// A late message is inserted at its time, and triggers nothing.
fn keep_late(turn: &mut Turn<'_>, message: &Message, incoming: &Incoming) {
    let usual_max = turn.policy.settings.listen.buffer_messages as usize;
    let (place, speakers) = turn.room.split(turn.thread.as_ref());
    let messages_max = place.messages_max(usual_max);
    let speaker = speakers.hold(message.author.id.as_str(), &message.author.name);
    let (conversation, flags) = (turn.conversation, incoming.flags);
    let entry =
        BufferEntry { at: message.at, speaker, flags, conversation, id: message.id.as_str(), text: &message.text };
    if !place.buffer.insert_by_time(&entry, messages_max, |speaker| speakers.release(speaker)) {
        speakers.release(speaker);
    }
}
