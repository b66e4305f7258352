//! The bot's own posts, once people see them: what is remembered of having spoken.

use super::turn::Turn;
use super::{lines, link};
use crate::effect::Lines;
use crate::room::{BufferEntry, Intervention};
use crate::settings::OwnPosts;
use crate::types::{BOT_KEY, Flags, Message, MessageId, Time, stable_hash};

/// One of the bot's own posts, once people see it.
#[derive(Clone, Copy)]
pub(super) struct OwnPost<'a> {
    pub at: Time,
    /// The time of the message that gave the reason.
    pub cause_at: Time,
    pub id: Option<&'a MessageId>,
    /// A reaction has no words.
    pub text: Option<&'a str>,
    pub addressed: bool,
    /// The bot's name on the platform, if known.
    pub name: Option<&'a str>,
}

/// One of the bot's own posts comes back from the platform. What it has just sent is recorded when it is acknowledged; what
/// it does not know (from before a crash, or from a record) is treated as its own.
pub(super) fn note_own_post(turn: &mut Turn<'_>, message: &Message) {
    let place = turn.place();
    let is_known = place.is_own(stable_hash(0, message.id.as_str())) || place.knows(message.id.as_str());
    let on_its_way = place.bot.as_ref().is_some_and(|bot| !bot.delivering.is_empty());
    if is_known || on_its_way {
        return;
    }
    turn.room.note_newest(message, turn.now);
    let asked = message.reply.is_some();
    let (at, cause_at, id, text) = (message.at, message.at, Some(&message.id), Some(&*message.text));
    let answering = message.reply.as_ref().and_then(|reply| reply.to.as_ref());
    let name = Some(&*message.author.name).filter(|name| !name.is_empty());
    record(turn, &OwnPost { at, cause_at, id, text, addressed: asked, name }, answering);
}

/// Records that the bot spoke: counted from the delivery, with the talk that it joined.
pub(super) fn record(turn: &mut Turn<'_>, own: &OwnPost<'_>, answering: Option<&MessageId>) {
    let OwnPost { at, cause_at, id, text, addressed, .. } = *own;
    if let (Some(id), Some(text)) = (own.id, own.text) {
        link::hear_own_words(turn, (own.at, own.name), id, text, answering);
    };
    let settings = &turn.policy.settings;
    let lines = if addressed { Lines::default() } else { lines::lines(turn, settings.judge.history_messages) };
    let conversation = turn.conversation;
    let bot = turn.place_mut().bot_mut();
    bot.acted_at = Some(at);
    if !addressed {
        bot.spoke_up_at = Some(at);
        if bot.interventions.len() >= settings.judge.history_max as usize {
            bot.interventions.pop_front();
        }
        bot.interventions.push_back(Intervention { at, conversation, lines });
    }
    if let (false, Some(_), Some((talk, _))) = (addressed, text, turn.room.talk_mut(turn.policy)) {
        talk.note_spoke();
    }
    let kept = !addressed || (settings.listen.own_posts == OwnPosts::All && settings.listen.addressed_kept);
    let Some(text) = text.filter(|_| kept) else { return };
    let at = if settings.listen.own_posts == OwnPosts::Unasked { cause_at } else { at };
    let (place, speakers) = turn.room.split(turn.thread.as_ref());
    let speaker = speakers.hold(BOT_KEY, &settings.bot.name);
    let id = id.map_or("", |id| id.as_str());
    let entry = BufferEntry { at, speaker, flags: Flags::OWN, conversation, id, text };
    let messages_max = place.messages_max(settings.listen.buffer_messages as usize);
    place.buffer.push(&entry, messages_max, |speaker| speakers.release(speaker));
}
