//! A message that the bot answered is deleted: the answer is withdrawn, for a limited time and if the platform supports it.

use super::link;
use super::turn::Turn;
use crate::effect::{Effect, Withdrawal};
use crate::memory::words::Phrases;
use crate::room::{PendingDelivery, SentAnswer};
use crate::types::{MessageId, Span, Time, stable_hash};

/// If answers are never withdrawn, nothing is kept for it.
fn life(turn: &Turn<'_>) -> Option<Span> {
    let minutes = turn.policy.settings.reply.withdraw_minutes;
    (minutes > 0).then(|| Span::minutes(minutes.into()))
}

/// People see an answer. Its reason may have been deleted while it was being sent.
pub(super) fn note_sent(turn: &mut Turn<'_>, sent: &PendingDelivery, posts: &[MessageId]) {
    if posts.is_empty() || life(turn).is_none() {
        return;
    }
    let to: Vec<MessageId> = sent.traces.iter().map(|trace| trace.message.clone()).collect();
    let to: Vec<MessageId> = to.into_iter().filter(|message| !sent.deleted.contains(message)).collect();
    if to.is_empty() {
        return withdraw(turn, posts.to_vec());
    }
    let at = turn.now;
    note(turn, SentAnswer { at, to, posts: posts.to_vec() });
}

fn note(turn: &mut Turn<'_>, sent: SentAnswer) {
    let after = Time(sent.at.0.saturating_sub(life(turn).unwrap_or_default().0));
    turn.place_mut().bot_mut().note_sent(sent, after);
}

/// People are asked whether a tool may run, because of these messages: when the last of them is deleted, so is the
/// question.
pub(super) fn note_question(turn: &mut Turn<'_>, to: Vec<MessageId>, posts: &[MessageId]) {
    if !posts.is_empty() && life(turn).is_some() {
        let at = turn.now;
        note(turn, SentAnswer { at, to, posts: posts.to_vec() });
    }
}

/// This question needs no answer any more; posts are given by the hashes of their ids.
pub(super) fn take_back_question(turn: &mut Turn<'_>, hashes: &[u64]) {
    let Some(bot) = turn.place_mut().bot.as_deref_mut() else { return };
    let asks = |sent: &SentAnswer| sent.posts.iter().any(|post| hashes.contains(&stable_hash(0, post.as_str())));
    let Some(index) = bot.sent.iter().position(asks) else { return };
    if let Some(sent) = bot.sent.remove(index) {
        withdraw(turn, sent.posts);
    }
}

/// A question that has only just become visible needs no answer any more.
pub(super) fn withdraw_question(turn: &mut Turn<'_>, posts: Vec<MessageId>) {
    if !posts.is_empty() && life(turn).is_some() {
        withdraw(turn, posts);
    }
}

/// People see more of an answer. Its reason may have been deleted since the first post.
pub(super) fn note_more_sent(turn: &mut Turn<'_>, sent: &PendingDelivery, posts: &[MessageId]) {
    if posts.is_empty() || life(turn).is_none() {
        return;
    }
    if sent.is_unfounded() {
        return withdraw(turn, posts.to_vec());
    }
    if let Some(first) = sent.chunk.as_ref().and_then(|chunk| chunk.posts.first()) {
        turn.place_mut().bot_mut().note_more_sent(first, posts);
    }
}

/// The first posts of the answers to this message and others that repeat what only this one says.
pub(super) fn quoting(turn: &Turn<'_>, message: &MessageId) -> Vec<MessageId> {
    let place = turn.place();
    let (Some(bot), Some(said)) = (&place.bot, place.buffer.get_by_id(message.as_str())) else { return Vec::new() };
    let quotes = |sent: &&SentAnswer| {
        let answer = sent.posts.first().and_then(|post| place.buffer.get_by_id(post.as_str()));
        let mut words = Phrases::default();
        words.add(said.text());
        let others = sent.to.iter().filter(|to| *to != message);
        others.filter_map(|to| place.buffer.get_by_id(to.as_str())).for_each(|other| words.remove(other.text()));
        answer.is_some_and(|answer| words.are_in(answer.text()))
    };
    let answers = bot.sent.iter().filter(|sent| sent.to.len() > 1 && sent.to.contains(message));
    answers.filter(quotes).filter_map(|sent| sent.posts.first().cloned()).collect()
}

/// A message was deleted. `quoting` are the first posts of answers that repeat it.
pub(super) fn note_deletion(turn: &mut Turn<'_>, message: &MessageId, quoting: &[MessageId]) {
    let Some(life) = life(turn) else { return };
    let after = Time(turn.now.0.saturating_sub(life.0));
    let Some(bot) = turn.place_mut().bot.as_deref_mut() else { return };
    let posts = bot.take_unfounded(message, quoting, after);
    if !posts.is_empty() {
        withdraw(turn, posts);
    }
}

/// The first post of the answer that this is a later post of.
pub(super) fn first_post(turn: &Turn<'_>, post: &MessageId) -> Option<MessageId> {
    let answers = turn.place().bot.as_ref()?.sent.iter();
    let mut answers = answers.filter_map(|sent| sent.posts.split_first());
    answers.find(|(_, later)| later.contains(post)).map(|(first, _)| first.clone())
}

/// Forgotten here at once; the platform is asked to delete them.
fn withdraw(turn: &mut Turn<'_>, posts: Vec<MessageId>) {
    for post in &posts {
        let (place, speakers) = turn.room.split(turn.thread.as_ref());
        if let Some(index) = place.buffer.find(post.as_str()) {
            speakers.release(place.buffer.remove(index));
        }
        if let Some(bot) = &mut place.bot {
            bot.exchanges.change(post.as_str(), None);
        }
        link::change_conversations(turn, post, None);
    }
    let (at, place) = (turn.now, turn.place_id());
    turn.out.push(Effect::Withdraw(Box::new(Withdrawal { at, place, posts })));
}
