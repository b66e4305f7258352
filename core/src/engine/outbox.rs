//! Answers are posted one after the other: all posts of one answer are sent before another begins.
//!
//! Each of these posts is a separate delivery. When one is acknowledged, the next waits here for as long as a person would
//! take to write it, and is sent when that time is over (`release`); other answers wait behind it. Whatever stops the bot
//! stops what waits: the decision is reported again with how many posts were sent and why no more.

use super::turn::Turn;
use super::{alarm, reception};
use crate::effect::{Delivery, Effect, Post, Typing};
use crate::room::{PendingDelivery, WaitingPost};
use crate::trace::{Closed, RestStopped, Stage, Trace};
use crate::types::{MessageId, Span};

/// How long a fast writer needs for a character.
const WRITING_PER_CHAR: Span = Span(12);
/// The limits of a writing time: nobody is seen writing for a shorter time, and the platforms' typing indicator lasts
/// longer than the longest.
const WRITING_MIN: Span = Span(800);
const WRITING_MAX: Span = Span(4000);

/// Sends a post, or queues it until the answer before it is complete.
pub(super) fn send(turn: &mut Turn<'_>, post: PendingDelivery) {
    let now = turn.now;
    let bot = turn.place_mut().bot_mut();
    if bot.must_wait(&post) {
        bot.outbox.push(WaitingPost { due: now, post });
    } else {
        depart(turn, post);
    }
}

fn depart(turn: &mut Turn<'_>, mut post: PendingDelivery) {
    post.delivery.at = turn.now;
    turn.out.push(Effect::Deliver(Box::new(post.delivery.clone())));
    turn.place_mut().bot_mut().delivering.push(post);
}

/// Sends what may be sent by now.
pub(super) fn release(turn: &mut Turn<'_>) {
    let now = turn.now;
    while let Some(bot) = &mut turn.place_mut().bot
        && bot.next_departure().is_some_and(|due| due <= now)
    {
        let waiting = bot.outbox.remove(0);
        depart(turn, waiting.post);
    }
    if turn.place().bot.as_ref().is_some_and(|bot| !bot.outbox.is_empty()) {
        alarm::set_alarm(turn);
    }
}

/// A post of an answer is sent. The next one is due when a person could have written it.
pub(super) fn queue_next_part(turn: &mut Turn<'_>, sent: PendingDelivery, ids: &[MessageId]) {
    let Some(mut chunk) = sent.chunk else { return };
    let Some(parts) = chunk.rest.pop_front() else { return };
    match sent.text {
        Some(text) if chunk.said.is_empty() => chunk.said = text,
        Some(text) => chunk.said = format!("{}\n{text}", chunk.said).into(),
        None => (),
    }
    chunk.posts.extend_from_slice(ids);
    let due = turn.now + writing_time(&parts);
    let text = Some(parts.join("\n").into());
    let call = turn.room.next_call();
    let delivery = Delivery {
        call,
        at: due,
        post: Post::Text(parts),
        quotes: None,
        telling: None,
        continues: true,
        ..sent.delivery
    };
    let mut post = PendingDelivery { delivery, text, chunk: Some(chunk), ..sent };
    answer_what_is_left(&mut post);
    turn.place_mut().bot_mut().outbox.insert(0, WaitingPost { due, post });
    show_typing(turn);
    alarm::set_alarm(turn);
}

fn writing_time(parts: &[Box<str>]) -> Span {
    let chars: u64 = parts.iter().map(|part| part.chars().count() as u64).sum();
    Span(WRITING_PER_CHAR.0 * chars).clamp(WRITING_MIN, WRITING_MAX)
}

fn show_typing(turn: &mut Turn<'_>) {
    let typing = Typing { at: turn.now, place: turn.place_id() };
    turn.out.push(Effect::Type(Box::new(typing)));
}

/// The message it refers to must still exist.
fn answer_what_is_left(post: &mut PendingDelivery) {
    let gone = |message: &MessageId| post.deleted.contains(message);
    if gone(&post.delivery.answering)
        && let Some(trace) = post.traces.iter().rev().find(|trace| !gone(&trace.message))
    {
        post.delivery.answering = trace.message.clone();
    }
    if post.delivery.quotes.as_ref().is_some_and(gone) {
        post.delivery.quotes = None;
    }
}

/// Nothing more is to be posted here.
pub(super) fn stop(turn: &mut Turn<'_>, why: &RestStopped) {
    let Some(bot) = &mut turn.place_mut().bot else { return };
    bot.delivering.iter_mut().for_each(|sent| sent.stop(why));
    for waiting in std::mem::take(&mut bot.outbox) {
        drop_post(turn, waiting.post, why);
    }
}

/// Drops a post that waited.
fn drop_post(turn: &mut Turn<'_>, post: PendingDelivery, why: &RestStopped) {
    if post.delivery.continues {
        return end_answer(turn, post, why);
    }
    for trace in post.traces {
        drop_trace(turn, trace, why);
    }
}

fn drop_trace(turn: &mut Turn<'_>, trace: Trace, why: &RestStopped) {
    let trace = Box::new(Trace { chunks: None, ..trace });
    match why {
        RestStopped::Muted => turn.hold_back(trace, Stage::Post, ("mute", Closed::default())),
        RestStopped::Deleted | RestStopped::Forgotten | RestStopped::Overdue(_) | RestStopped::Failed(_) => {
            turn.stay_silent(trace, Stage::Post, why.clone().into())
        }
    }
}

/// The answer ends with the posts that were sent.
pub(super) fn end_answer(turn: &mut Turn<'_>, mut post: PendingDelivery, why: &RestStopped) {
    for progress in post.traces.iter_mut().filter_map(|trace| trace.chunks.as_mut()) {
        progress.stopped = Some(why.clone());
    }
    report(turn, &post, &[]);
}

/// Reports the decisions again, with the progress of their answer. `ids` are the posts that were added.
pub(super) fn report(turn: &mut Turn<'_>, post: &PendingDelivery, ids: &[MessageId]) {
    if let Some(first) = post.chunk.as_ref().and_then(|chunk| chunk.posts.first()) {
        let progress = post.traces.last().and_then(|trace| trace.chunks.as_ref());
        reception::note_progress(turn, first, ids, progress);
    }
    for trace in &post.traces {
        turn.out.push(Effect::Updated(Box::new(trace.clone())));
    }
}

/// A message was deleted: one that is being answered, or one of the bot's own posts.
pub(super) fn note_deletion(turn: &mut Turn<'_>, message: &MessageId) {
    let Some(bot) = &mut turn.place_mut().bot else { return };
    for sent in &mut bot.delivering {
        if note_deleted(sent, message) {
            sent.stop(&RestStopped::Deleted);
        }
    }
    for mut waiting in std::mem::take(&mut bot.outbox) {
        if note_deleted(&mut waiting.post, message) {
            drop_post(turn, waiting.post, &RestStopped::Deleted);
            continue;
        }
        if !waiting.post.delivery.continues {
            without_deleted(turn, &mut waiting.post);
        }
        answer_what_is_left(&mut waiting.post);
        turn.place_mut().bot_mut().outbox.push(waiting);
    }
    release(turn);
}

/// Whether this message was the last reason for the answer, or the answer is unwanted because somebody deleted a part of
/// it.
fn note_deleted(post: &mut PendingDelivery, message: &MessageId) -> bool {
    if post.traces.iter().any(|trace| trace.message == *message) && !post.deleted.contains(message) {
        post.deleted.push(message.clone());
    }
    post.is_unfounded() || post.chunk.as_ref().is_some_and(|chunk| chunk.posts.contains(message))
}

/// A person who deleted their message is no longer answered, though others are.
fn without_deleted(turn: &mut Turn<'_>, post: &mut PendingDelivery) {
    let (gone, left) =
        std::mem::take(&mut post.traces).into_iter().partition(|trace| post.deleted.contains(&trace.message));
    post.traces = left;
    for trace in Vec::from_iter::<Vec<Trace>>(gone) {
        drop_trace(turn, trace, &RestStopped::Deleted);
    }
}

/// After a restart, what is long overdue is dropped; the rest is sent when it is due.
pub(super) fn resume(turn: &mut Turn<'_>, stale_after: Span) {
    let now = turn.now;
    let Some(bot) = turn.place_mut().bot.as_mut().filter(|bot| !bot.outbox.is_empty()) else { return };
    for waiting in std::mem::take(&mut bot.outbox) {
        let overdue = now.since(waiting.due);
        if overdue > stale_after {
            drop_post(turn, waiting.post, &RestStopped::Overdue(overdue));
        } else {
            turn.place_mut().bot_mut().outbox.push(waiting);
        }
    }
    let first = turn.place().bot.as_ref().and_then(|bot| bot.outbox.first());
    if first.is_some_and(|waiting| waiting.due > now) {
        show_typing(turn);
    }
    alarm::set_alarm(turn);
}

/// Removes the answers to people who want to be forgotten, and those that contain their words.
pub(super) fn forget(
    turn: &mut Turn<'_>,
    is_of_them: impl Fn(&PendingDelivery) -> bool,
    stays: impl Fn(&Trace) -> bool,
) {
    let Some(bot) = &mut turn.place_mut().bot else { return };
    for mut waiting in std::mem::take(&mut bot.outbox) {
        let goes = is_of_them(&waiting.post);
        waiting.post.traces.retain(&stays);
        waiting.post.traces.iter_mut().for_each(Trace::forget_words);
        if goes {
            drop_post(turn, waiting.post, &RestStopped::Forgotten);
        } else {
            turn.place_mut().bot_mut().outbox.push(waiting);
        }
    }
}

#[cfg(test)]
mod tests;
