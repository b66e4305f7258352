//! A message is edited or deleted: what is remembered of it, and what it led to, follows.

use super::turn::Turn;
use super::{answer, ask, end, link, outbox, reception, spoken_order, withdraw, write};
use crate::phrases::trim;
use crate::room::{Pending, Phase};
use crate::trace::Cause;
use crate::types::{Change, MessageId, Voice, stable_hash};

pub(super) fn change(turn: &mut Turn<'_>, change: &Change) {
    let text = change.text.as_deref().filter(|text| !trim(text).is_empty());
    if text.is_some_and(|text| begins_own_answer(turn, &change.id, text)) {
        return;
    }
    let quoting = if text.is_none() { withdraw::quoting(turn, &change.id) } else { Vec::new() };
    let mut remembered = change_words(turn, &change.id, text);
    if text.is_none() {
        // The words of an answer are remembered under its first post: deleting any of its posts removes them.
        if let Some(first) = withdraw::first_post(turn, &change.id) {
            remembered |= change_words(turn, &first, None);
        }
        reception::note_deletion(turn, &change.id);
        withdraw::note_deletion(turn, &change.id, &quoting);
        outbox::note_deletion(turn, &change.id);
        turn.room.note_deleted_request(&change.id);
    }
    // Platforms report an edit when they have merely added a preview: only other words are an order.
    if remembered
        && let Some(text) = text
        && let Some(time) = spoken_order::quiet_order_in_edit(turn, &change.id, text)
    {
        spoken_order::mute(turn, time);
    }
    for pending in turn.place_mut().take_slots() {
        change_pending(turn, pending, &change.id, text.is_some(), remembered);
    }
    answer::write_next(turn);
}

/// The words of a message, or of a post, leave what is read. Unlike a deletion this ends nothing that they led to.
pub(super) fn let_go(turn: &mut Turn<'_>, id: &MessageId) {
    change_words(turn, id, None);
    if let Some(first) = withdraw::first_post(turn, id) {
        change_words(turn, &first, None);
    }
}

/// Platforms report an edit when they have merely added a preview: this one is to the first post of an answer, whose words
/// are remembered together with those of the other posts.
fn begins_own_answer(turn: &Turn<'_>, id: &MessageId, text: &str) -> bool {
    let heard = turn.place().buffer.get_by_id(id.as_str());
    heard.is_some_and(|heard| heard.voice() == Voice::Me && heard.text().starts_with(text))
}

/// Changes what is remembered of a message, wherever that is. Returns whether anything changed.
fn change_words(turn: &mut Turn<'_>, id: &MessageId, text: Option<&str>) -> bool {
    change_history(turn, id.as_str(), text);
    let changed = change_memory(turn, id.as_str(), text) | change_exchanges(turn, id.as_str(), text);
    link::change_conversations(turn, id, text);
    changed
}

/// Returns whether anything changed.
fn change_memory(turn: &mut Turn<'_>, id: &str, text: Option<&str>) -> bool {
    let policy = turn.policy;
    let (place, speakers) = turn.room.split(turn.thread.as_ref());
    let Some(index) = place.buffer.find(id) else { return false };
    let heard = place.buffer.iter().nth(index).expect("it was found at this place");
    match text {
        // Platforms report an edit when they have merely added a preview.
        Some(text) if heard.text() == text => return false,
        Some(text) => {
            let flags = heard.flags.voice_only() | policy.notice.of(text);
            place.buffer.replace_text(index, text, flags);
        }
        None => {
            speakers.release(place.buffer.remove(index));
            place.bot_mut().note_known(stable_hash(0, id));
        }
    }
    true
}

/// The same for the stored exchanges with people.
fn change_exchanges(turn: &mut Turn<'_>, id: &str, text: Option<&str>) -> bool {
    turn.place_mut().bot.as_mut().is_some_and(|bot| bot.exchanges.change(id, text))
}

/// The talk that the bot joined is remembered apart from the buffer.
fn change_history(turn: &mut Turn<'_>, id: &str, text: Option<&str>) {
    let Some(bot) = &mut turn.place_mut().bot else { return };
    for intervention in &mut bot.interventions {
        if intervention.lines.iter().any(|line| line.id == id) {
            intervention.lines = intervention.lines.with_changed(id, text);
        }
    }
}

/// The reason may be gone; or a model is reading an outdated message, and is asked again.
fn change_pending(turn: &mut Turn<'_>, mut pending: Box<Pending>, id: &MessageId, remains: bool, remembered: bool) {
    let is_reason = pending.trace.message == *id;
    let also = pending.together.iter().position(|trace| trace.message == *id);
    if let (false, Some(index)) = (remains, also) {
        let trace = pending.together.remove(index);
        turn.stay_silent(Box::new(trace), pending.stage(), Cause::Deleted);
    } else if !remains && is_reason {
        let Some(other) = pending.together.pop() else { return end::end(turn, *pending, &Cause::Deleted) };
        let gone = std::mem::replace(&mut *pending.trace, other);
        turn.stay_silent(Box::new(gone), pending.stage(), Cause::Deleted);
    }
    let rereads = match pending.phase {
        Phase::Judging { .. } => remembered && (is_reason || !remains),
        // People were asked about the earlier text; other changes are seen when the answer continues.
        Phase::Writing { .. } if pending.approval().is_some() => {
            forget_found(&mut pending);
            remembered && remains && (is_reason || also.is_some())
        }
        Phase::Writing { .. } => remembered || (!remains && (is_reason || also.is_some())),
        Phase::Waiting { .. } | Phase::Holding { .. } => false,
    };
    if rereads { start_over(turn, pending) } else { turn.place_mut().put_back(pending) }
}

/// What was looked up for an answer that waits for people may quote the deleted message.
fn forget_found(pending: &mut Pending) {
    if let Some(tools) = &mut pending.tools {
        tools.forget_results();
    }
    pending.trace.forget_tool_words();
}

/// Starts again from the current talk.
pub(super) fn start_over(turn: &mut Turn<'_>, mut pending: Box<Pending>) {
    if let Some(approval) = pending.approval() {
        withdraw::take_back_question(turn, &approval.posts.clone());
    }
    end::abandon(turn, &mut pending);
    if let Some(tools) = &mut pending.tools {
        tools.start_over();
    }
    turn.conversation = pending.conversation;
    match pending.phase {
        Phase::Writing { .. } => write::write(turn, pending),
        Phase::Judging { .. } => {
            turn.place_mut().put_back(pending);
            ask::judge(turn);
        }
        Phase::Waiting { .. } | Phase::Holding { .. } => turn.place_mut().put_back(pending),
    }
}
