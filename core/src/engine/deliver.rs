//! A post leaves, and is acknowledged.

use super::own_posts::{self, OwnPost};
use super::turn::Turn;
use super::{exchange, reception, withdraw};
use crate::effect::{Delivery, Effect, Excuse, Failure, Outcome, Post};
use crate::room::{AnsweredPerson, Pending, PendingDelivery};
use crate::trace::{Cause, Stage};
use crate::types::{CallId, MessageId, Voice, stable_hash};

/// Sends a post. What it concludes is kept until the platform has taken it.
pub(super) fn deliver(turn: &mut Turn<'_>, pending: Pending, post: Post, text: Option<Box<str>>) {
    let call = turn.room.next_call();
    let answering = pending.trace.message.clone();
    let answered_with = Some(answering.clone());
    let telling = pending.tells();
    let quotes = quoted(turn, &pending);
    let delivery = Delivery { call, at: turn.now, place: turn.place_id(), post, answering, quotes, telling };
    turn.out.push(Effect::Deliver(Box::new(delivery.clone())));
    let kind = pending.kind;
    let cause = pending.trace.cause.clone();
    let (addressed, conversation) = (pending.addressed.is_some() || pending.trace.its_turn, pending.conversation);
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
    }
    let bot = turn.place_mut().bot_mut();
    // Should the same message be told again, it is not answered again.
    traces.iter().for_each(|trace| bot.note_known(stable_hash(0, trace.message.as_str())));
    bot.delivering.push(PendingDelivery { delivery, text, addressed, conversation, traces, deleted: Vec::new() });
}

/// The message that the judge chose to reply to, as long as it is one of somebody else and still there.
fn quoted(turn: &Turn<'_>, pending: &Pending) -> Option<MessageId> {
    let quote = pending.quote.as_ref().filter(|quote| **quote != pending.trace.message)?;
    let heard = turn.place().buffer.get_by_id(quote.as_str())?;
    (heard.voice() != Voice::Me).then(|| quote.clone())
}

pub(super) fn handle_delivered(turn: &mut Turn<'_>, call: &CallId, ids: Result<Vec<MessageId>, Failure>) {
    let Some(bot) = &mut turn.place_mut().bot else { return };
    let Some(index) = bot.delivering.iter().position(|sent| sent.delivery.call == *call) else { return };
    let sent = bot.delivering.remove(index);
    let ids = match ids {
        Ok(ids) => ids,
        Err(Failure { what, .. }) => {
            for trace in sent.traces {
                turn.stay_silent(Box::new(trace), Stage::Post, Cause::Failed { what: what.clone() });
            }
            return;
        }
    };
    let cause_at = sent.traces.last().map_or(turn.now, |trace| trace.at);
    turn.conversation = sent.conversation;
    let (id, text, addressed) = (ids.first(), sent.text.as_deref(), sent.addressed);
    let own = OwnPost { at: turn.now, cause_at, id, text, addressed, name: None };
    own_posts::record(turn, &own, Some(sent.delivery.reply_to()));
    exchange::note_answer(turn, &sent, &ids);
    for id in &ids {
        turn.place_mut().bot_mut().note_own(stable_hash(0, id.as_str()));
    }
    withdraw::note_sent(turn, &sent, &ids);
    for mut trace in sent.traces {
        let person = turn.room.speakers.key(&trace.author_id);
        turn.room.note_answer(AnsweredPerson { person, at: turn.now, addressed: sent.addressed });
        trace.acted_at = Some(turn.now);
        if sent.text.is_some() && !sent.addressed {
            reception::follow_up(turn, Box::new(trace.clone()), &ids, sent.delivery.telling.is_some());
        }
        turn.conclude(Box::new(trace));
    }
}

/// One friendly line, because an answer was asked for and is not to be had.
pub(super) fn excuse(turn: &mut Turn<'_>, mut pending: Pending, excuse: Excuse, what: &str) {
    pending.trace.cause = Cause::Excused { what: what.into() };
    deliver(turn, pending, Post::Excuse(excuse), Some("…".into()));
}
