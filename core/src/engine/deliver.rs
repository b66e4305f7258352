//! Sends posts, and handles their acknowledgement.

use std::collections::VecDeque;

use super::own_posts::{self, OwnPost};
use super::turn::Turn;
use super::{exchange, link, outbox, reception, withdraw};
use crate::effect::{Delivery, Excuse, Failure, Outcome, Post};
use crate::room::{AnsweredPerson, Chunk, Pending, PendingDelivery};
use crate::trace::{Cause, ChunkProgress, RestStopped, Stage};
use crate::types::{CallId, MessageId, Voice, stable_hash};

/// What is to be posted.
pub(super) struct Draft {
    pub post: Post,
    /// What is remembered of it; a reaction has no words.
    pub text: Option<Box<str>>,
    /// Further posts of the same answer.
    pub rest: VecDeque<Vec<Box<str>>>,
}

impl Draft {
    pub(super) fn single(post: Post, text: Option<Box<str>>) -> Draft {
        Draft { post, text, rest: VecDeque::new() }
    }
}

/// Sends a post. Its decisions are kept until the platform has accepted it.
pub(super) fn deliver(turn: &mut Turn<'_>, pending: Pending, draft: Draft) {
    let Draft { post, text, rest } = draft;
    let answered_with = Some(pending.trace.message.clone());
    // A scheduled post answers nobody's message.
    let answering = if pending.errand.is_some() { MessageId::new("") } else { pending.trace.message.clone() };
    let telling = pending.tells();
    let quotes = quoted(turn, &pending);
    let delivery = Delivery { quotes, telling, ..turn.new_delivery(post, answering) };
    let kind = pending.kind;
    let cause = pending.trace.cause.clone();
    let (addressed, conversation) = (pending.addressed.is_some() || pending.trace.its_turn, pending.conversation);
    let of = 1 + rest.len() as u32;
    let chunk = (of > 1).then(|| Box::new(Chunk { rest, ..Chunk::default() }));
    let mut traces: Vec<_> = pending.traces().collect();
    for trace in &mut traces {
        (trace.outcome, trace.stage) = (Outcome::from(kind), Stage::Post);
        // People who are answered together get the same excuse.
        if trace.cause == Cause::Undecided || matches!(cause, Cause::Excused { .. }) {
            trace.cause = cause.clone();
        }
        if Some(&trace.message) != answered_with.as_ref() {
            trace.answered_with = answered_with.clone();
        }
        trace.chunks = chunk.is_some().then(|| ChunkProgress { of, later: Vec::new(), stopped: None });
    }
    let bot = turn.place_mut().bot_mut();
    // If the same message is received again, it is not answered again.
    traces.iter().for_each(|trace| bot.note_known(stable_hash(0, trace.message.as_str())));
    let concluded = PendingDelivery::new(delivery, text);
    outbox::send(turn, PendingDelivery { addressed, conversation, traces, chunk, ..concluded });
}

/// The message that the judge chose to reply to, if it is somebody else's and still there.
fn quoted(turn: &Turn<'_>, pending: &Pending) -> Option<MessageId> {
    let quote = pending.quote.as_ref().filter(|quote| **quote != pending.trace.message)?;
    let heard = turn.place().buffer.get_by_id(quote.as_str())?;
    (heard.voice() != Voice::Me).then(|| quote.clone())
}

pub(super) fn handle_delivered(turn: &mut Turn<'_>, call: &CallId, ids: Result<Vec<MessageId>, Failure>) {
    let Some(bot) = &mut turn.place_mut().bot else { return };
    let Some(index) = bot.delivering.iter().position(|sent| sent.delivery.call == *call) else { return };
    let sent = bot.delivering.remove(index);
    match ids {
        Ok(ids) if matches!(sent.delivery.post, Post::Reminder(_)) => note_reminder(turn, &sent, &ids),
        Ok(ids) if sent.delivery.continues => note_more(turn, sent, &ids),
        Ok(ids) => note_answer(turn, sent, &ids),
        Err(Failure { what, .. }) if sent.delivery.continues => {
            outbox::end_answer(turn, sent, &RestStopped::Failed(what));
        }
        Err(Failure { what, .. }) => {
            for mut trace in sent.traces {
                trace.chunks = None;
                turn.stay_silent(Box::new(trace), Stage::Post, Cause::Failed { what: what.clone() });
            }
        }
    }
    outbox::release(turn);
}

/// People see an answer, or its first post: this counts as having spoken, once.
fn note_answer(turn: &mut Turn<'_>, mut sent: PendingDelivery, ids: &[MessageId]) {
    take_in_rest(&mut sent, ids);
    if sent.is_unfounded() {
        sent.stop(&RestStopped::Deleted);
    }
    let cause_at = sent.traces.last().map_or(turn.now, |trace| trace.at);
    turn.conversation = sent.conversation;
    let (id, text, addressed) = (ids.first(), sent.text.as_deref(), sent.addressed);
    let own = OwnPost { at: turn.now, cause_at, id, text, addressed, name: None };
    own_posts::record(turn, &own, Some(sent.delivery.reply_to()));
    exchange::note_answer(turn, &sent, ids);
    note_ids(turn, ids);
    withdraw::note_sent(turn, &sent, ids);
    let stopped = sent.chunk.as_ref().and_then(|chunk| chunk.stopped.clone());
    for trace in &mut sent.traces {
        trace.acted_at = Some(turn.now);
        if let Some(progress) = &mut trace.chunks {
            progress.stopped = stopped.clone();
        }
    }
    for trace in &sent.traces {
        let person = turn.room.speakers.key(&trace.author_id);
        turn.room.note_answer(AnsweredPerson { person, at: turn.now, addressed: sent.addressed });
        if sent.text.is_some() && !sent.addressed {
            reception::track_contribution(turn, Box::new(trace.clone()), ids, sent.delivery.telling.is_some());
        }
        turn.conclude(Box::new(trace.clone()));
    }
    outbox::queue_next_part(turn, sent, ids);
}

/// The bot has spoken, though nobody addressed it just now and it did not join any conversation.
fn note_reminder(turn: &mut Turn<'_>, sent: &PendingDelivery, ids: &[MessageId]) {
    let (at, id, text) = (turn.now, ids.first(), sent.text.as_deref());
    own_posts::record(turn, &OwnPost { at, cause_at: at, id, text, addressed: true, name: None }, None);
    note_ids(turn, ids);
}

/// Earlier versions posted a whole answer in one delivery: then nothing is left of it.
fn take_in_rest(sent: &mut PendingDelivery, ids: &[MessageId]) {
    let Post::Text(parts) = &sent.delivery.post else { return };
    if ids.len() <= parts.len() {
        return;
    }
    if let (Some(chunk), Some(text)) = (sent.chunk.take(), &mut sent.text) {
        let parts = chunk.rest.iter().flatten().map(|part| &**part);
        *text = std::iter::once(&**text).chain(parts).collect::<Vec<_>>().join("\n").into();
    }
    sent.traces.iter_mut().for_each(|trace| trace.chunks = None);
}

fn note_ids(turn: &mut Turn<'_>, ids: &[MessageId]) {
    for id in ids {
        turn.place_mut().bot_mut().note_own(stable_hash(0, id.as_str()));
    }
}

/// People see one more post of an answer: its record is extended.
fn note_more(turn: &mut Turn<'_>, mut sent: PendingDelivery, ids: &[MessageId]) {
    let now = turn.now;
    turn.conversation = sent.conversation;
    note_ids(turn, ids);
    note_words(turn, &sent);
    let bot = turn.place_mut().bot_mut();
    bot.acted_at = Some(now);
    if !sent.addressed {
        bot.spoke_up_at = Some(now);
    }
    withdraw::note_more_sent(turn, &sent, ids);
    let stopped = sent.chunk.as_ref().and_then(|chunk| chunk.stopped.clone());
    for progress in sent.traces.iter_mut().filter_map(|trace| trace.chunks.as_mut()) {
        progress.later.push(now);
        progress.stopped = stopped.clone();
    }
    outbox::report(turn, &sent, ids);
    outbox::queue_next_part(turn, sent, ids);
}

/// The words of an answer are remembered under its first post.
fn note_words(turn: &mut Turn<'_>, sent: &PendingDelivery) {
    let (Some(text), Some(chunk)) = (&sent.text, &sent.chunk) else { return };
    let Some(first) = chunk.posts.first() else { return };
    let text = format!("{}\n{text}", chunk.said);
    let place = turn.place_mut();
    if let Some(index) = place.buffer.find(first.as_str()) {
        let flags = place.buffer.iter().nth(index).expect("it was found at this place").flags;
        place.buffer.replace_text(index, &text, flags);
    }
    place.bot_mut().exchanges.change(first.as_str(), Some(&text));
    link::change_conversations(turn, first, Some(&text));
}

/// One friendly line, because an answer was asked for and none is available.
pub(super) fn excuse(turn: &mut Turn<'_>, mut pending: Pending, excuse: Excuse, what: &str) {
    pending.trace.cause = Cause::Excused { what: what.into() };
    deliver(turn, pending, Draft::single(Post::Excuse(excuse), Some("…".into())));
}
