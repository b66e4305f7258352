//! Posts leave one answer after the other: an answer in several posts is out before another begins.
//!
//! Each of these posts is a delivery of its own. When one is acknowledged, the next waits here for as long as somebody would
//! take to write it, and leaves when that time is over (`release`); what other answers have to post waits behind it. Whatever
//! stops the bot stops what waits: the decision is reported again with how many posts went out and why no more.

use super::turn::Turn;
use super::{alarm, reception};
use crate::effect::{Delivery, Effect, Post, Typing};
use crate::room::{PendingDelivery, WaitingPost};
use crate::trace::{Closed, RestStopped, Stage, Trace};
use crate::types::{MessageId, Span};

/// Somebody who writes fast needs so long for a character.
const WRITING_PER_CHAR: Span = Span(12);
/// Nobody is seen writing for a shorter time; and platforms show for longer than the longest that somebody writes.
const WRITING_MIN: Span = Span(800);
const WRITING_MAX: Span = Span(4000);

/// Sends a post, or has it wait until the answer before it is out.
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

/// Sends what may leave by now.
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

/// A post of an answer is out. The next one is due when somebody could have written it.
pub(super) fn go_on(turn: &mut Turn<'_>, sent: PendingDelivery, ids: &[MessageId]) {
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

/// The message it is about must be one that is still there.
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

/// A post that waited does not leave.
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

/// The answer ends with the posts that are out.
pub(super) fn end_answer(turn: &mut Turn<'_>, mut post: PendingDelivery, why: &RestStopped) {
    for progress in post.traces.iter_mut().filter_map(|trace| trace.chunks.as_mut()) {
        progress.stopped = Some(why.clone());
    }
    report(turn, &post, &[]);
}

/// The decisions again, with how far their answer has come. `ids` are the posts that were added.
pub(super) fn report(turn: &mut Turn<'_>, post: &PendingDelivery, ids: &[MessageId]) {
    if let Some(first) = post.chunk.as_ref().and_then(|chunk| chunk.posts.first()) {
        let progress = post.traces.last().and_then(|trace| trace.chunks.as_ref());
        reception::note_progress(turn, first, ids, progress);
    }
    for trace in &post.traces {
        turn.out.push(Effect::Updated(Box::new(trace.clone())));
    }
}

/// A message was deleted: what it asked for, or a post of its own.
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

/// Whether the answer has lost its reason with this message, or is unwanted because somebody deleted a part of it.
fn note_deleted(post: &mut PendingDelivery, message: &MessageId) -> bool {
    if post.traces.iter().any(|trace| trace.message == *message) && !post.deleted.contains(message) {
        post.deleted.push(message.clone());
    }
    post.is_unfounded() || post.chunk.as_ref().is_some_and(|chunk| chunk.posts.contains(message))
}

/// Who deleted a message is no longer answered, though others are.
fn without_deleted(turn: &mut Turn<'_>, post: &mut PendingDelivery) {
    let (gone, left) =
        std::mem::take(&mut post.traces).into_iter().partition(|trace| post.deleted.contains(&trace.message));
    post.traces = left;
    for trace in Vec::from_iter::<Vec<Trace>>(gone) {
        drop_trace(turn, trace, &RestStopped::Deleted);
    }
}

/// The program starts again. What is long overdue is dropped; the rest leaves when it is due.
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

/// Without the answers to people who want to be forgotten, and those that hold words of them.
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
