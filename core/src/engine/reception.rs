//! How people respond to a contribution: each is tracked for some messages and minutes, and the bot's share follows from
//! that.

use super::alarm;
use super::turn::Turn;
use crate::effect::{Effect, Response, Trace};
use crate::listen::{Tone, is_disapproving, tone};
use crate::room::TrackedContribution;
use crate::trace::ChunkProgress;
use crate::types::{Message, MessageId, Reaction, stable_hash};

/// The maximum number of contributions tracked; beyond that the oldest counts as ignored.
const TRACKED_MAX: usize = 16;

/// People see a contribution from now on.
pub(super) fn track_contribution(turn: &mut Turn<'_>, trace: Box<Trace>, ids: &[MessageId], spoke_first: bool) {
    let ids = ids.iter().map(|id| stable_hash(0, id.as_str())).collect();
    let (at, conversation) = (turn.now, turn.conversation);
    let tracked = TrackedContribution { trace, ids, at, conversation, heard: 0, spoke_first };
    let bot = turn.place_mut().bot_mut();
    bot.tracked.push(tracked);
    if bot.tracked.len() > TRACKED_MAX {
        received(turn, 0, Response::Ignored);
    }
    alarm::set_alarm(turn);
}

/// More of a contribution is posted, or no more of it follows.
pub(super) fn note_progress(
    turn: &mut Turn<'_>,
    first: &MessageId,
    ids: &[MessageId],
    progress: Option<&ChunkProgress>,
) {
    let first = stable_hash(0, first.as_str());
    let Some(bot) = &mut turn.place_mut().bot else { return };
    for tracked in bot.tracked.iter_mut().filter(|tracked| tracked.ids.contains(&first)) {
        tracked.ids.extend(ids.iter().map(|id| stable_hash(0, id.as_str())));
        tracked.trace.chunks = progress.cloned();
    }
}

/// Nobody responded to it for long enough.
pub(super) fn let_pass(turn: &mut Turn<'_>) {
    while alarm::tracked_until(turn).is_some_and(|until| until <= turn.now) {
        received(turn, 0, Response::Ignored);
    }
}

/// Somebody spoke: to the bot, thanking it, or past it. `answered` is the message that this one seems to answer.
pub(super) fn note_reception(turn: &mut Turn<'_>, message: &Message, answered: Option<&MessageId>, to_me: bool) {
    let most = turn.policy.settings.effect.follow_messages;
    let conversation = turn.conversation;
    let Some(bot) = turn.place_mut().bot.as_mut().filter(|bot| !bot.tracked.is_empty()) else { return };
    bot.tracked.iter_mut().for_each(|tracked| tracked.heard += 1);
    let tone = tone(&message.text);
    let link = message.reply.as_ref().and_then(|reply| reply.to.as_ref()).or(answered);
    let link = link.map(|id| stable_hash(0, id.as_str()));
    let newest = bot.tracked.len() - 1;
    let response = |(index, tracked): (usize, &TrackedContribution)| {
        let answers = link.is_some_and(|link| tracked.ids.contains(&link)) || (to_me && index == newest);
        let thanks = message.author.id == tracked.trace.author_id
            && conversation == tracked.conversation
            && tone == Tone::Thanks;
        match (answers, tone) {
            (true, Tone::TellsOff | Tone::Disagrees) => Some((index, Response::ToldOff)),
            (true, Tone::Thanks) => Some((index, Response::Thanked)),
            (true, Tone::Neither) => Some((index, Response::Answered)),
            (false, _) if thanks => Some((index, Response::Thanked)),
            (false, _) => (tracked.heard >= most).then_some((index, Response::Ignored)),
        }
    };
    let responses: Vec<_> = bot.tracked.iter().enumerate().filter_map(response).collect();
    for (index, response) in responses.into_iter().rev() {
        received(turn, index, response);
    }
}

/// Somebody reacted to a message with an emoji.
pub(super) fn note_reaction(turn: &mut Turn<'_>, reaction: &Reaction) {
    let index = tracked_post(turn, &reaction.message).filter(|_| reaction.on);
    let response = if is_disapproving(&reaction.emoji) { Response::ToldOff } else { Response::Reacted };
    if let Some(index) = index {
        received(turn, index, response);
    }
}

/// A contribution that is deleted was unwanted.
pub(super) fn note_deletion(turn: &mut Turn<'_>, id: &MessageId) {
    if let Some(index) = tracked_post(turn, id) {
        received(turn, index, Response::Deleted);
    }
}

fn tracked_post(turn: &Turn<'_>, id: &MessageId) -> Option<usize> {
    let id = stable_hash(0, id.as_str());
    turn.place().bot.as_ref()?.tracked.iter().position(|tracked| tracked.ids.contains(&id))
}

pub(super) fn received(turn: &mut Turn<'_>, index: usize, response: Response) {
    let bot = turn.place_mut().bot_mut();
    let TrackedContribution { mut trace, spoke_first, .. } = bot.tracked.remove(index);
    if spoke_first {
        bot.ignored_remarks = match response {
            Response::Ignored | Response::ToldOff | Response::Deleted => bot.ignored_remarks.saturating_add(1),
            Response::Answered | Response::Thanked | Response::Reacted => 0,
        };
    }
    if turn.policy.settings.effect.feedback
        && let Some((talk, _)) = turn.room.talk_mut(turn.policy)
    {
        talk.receive(response);
    }
    trace.received = Some(response);
    turn.out.push(Effect::Received(trace));
}
