//! From a verdict to words: the last check of the gates, the request to the writer, and the handling of its words.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::deliver::Draft;
use super::pay::Estimate;
use super::turn::Turn;
use super::{deliver, end, gate, lines, pay, tool_offer};
use crate::effect::{Brief, Effect, Excuse, Kind, Post, Transcript};
use crate::memory::Memories;
use crate::reply::{chunks, clean, emoji_for, is_repeat, is_silence, split_each};
use crate::room::{BotState, Pending, Phase};
use crate::settings::Settings;
use crate::trace::Cause;
use crate::types::{Addressed, CallId, MessageId, Voice};

pub(super) fn write_pending(turn: &mut Turn<'_>) {
    let pending = turn.take_pending().expect("only what is pending is written");
    write(turn, Box::new(pending));
}

/// The time has come: a reaction is sent at once, words are requested from the current talk.
pub(super) fn write(turn: &mut Turn<'_>, pending: Box<Pending>) {
    turn.conversation = pending.conversation;
    if let Some(closed) = gate::closed_for(turn, &pending, false) {
        return end::withhold(turn, *pending, closed);
    }
    if pending.kind == Kind::Reaction {
        let emoji = pending.emoji.clone().unwrap_or_else(|| emoji_for(turn.policy, &pending.trace.message));
        return deliver::deliver(turn, *pending, Draft::single(Post::Reaction(emoji), None));
    }
    let answering: Vec<MessageId> =
        pending.together.iter().chain([&*pending.trace]).map(|trace| trace.message.clone()).collect();
    let lines = lines::lines_to_answer(turn, &answering, pending.addressed.is_some());
    let transcript = Transcript { lines, ..Transcript::default() };
    let model = turn.policy.settings.models.main.as_str();
    let tokens_max = tokens_max(&turn.policy.settings, pending.kind);
    let call = turn.room.next_call();
    let (offer, steps) = (tool_offer::offer(turn, &pending), tool_offer::closed_steps(&pending));
    let tokens_in = transcript.tokens() + tool_offer::tokens_of(&steps);
    let estimate = Estimate { model, calls: 1, tokens_in, tokens_max, looked_up: Some(tokens_in) };
    if let Err(closed) = pay::reserve(turn, &call, estimate) {
        return match pending.addressed {
            Some(Addressed::Mention | Addressed::Name | Addressed::Reply) => {
                deliver::excuse(turn, *pending, Excuse::BudgetSpent, "the budget of the day is spent")
            }
            Some(Addressed::Turn) | None => end::withhold(turn, *pending, ("budget", closed)),
        };
    }
    let brief = Brief {
        call: call.clone(),
        at: turn.now,
        place: turn.place_id(),
        kind: pending.kind,
        model: model.into(),
        tokens_max,
        answering,
        addressed: pending.addressed.is_some(),
        transcript,
        memories: Memories::default(),
        telling: pending.tells(),
        tools: offer,
        steps,
        errand: pending.errand.clone(),
    };
    let phase = Phase::Writing { call, asked_at: turn.now };
    turn.place_mut().put_back(Box::new(Pending { phase, ..*pending }));
    turn.out.push(Effect::Write(Box::new(brief)));
}

/// More characters per token than this come from a model that ignores its limit.
const CHARS_PER_TOKEN_MAX: usize = 16;

fn tokens_max(settings: &Settings, kind: Kind) -> u32 {
    match kind {
        Kind::Full => settings.reply.tokens_full,
        Kind::Acknowledgement | Kind::Reaction => settings.reply.tokens_acknowledge,
    }
}

/// Prevents flooding a room.
fn shortened(words: &str, chars_max: usize) -> Cow<'_, str> {
    match words.char_indices().nth(chars_max) {
        Some((end, _)) => Cow::Owned(format!("{}…", &words[..end])),
        None => Cow::Borrowed(words),
    }
}

/// Turns a model's words into a post: leaked markup is removed, and silence put into words is silence.
pub(super) fn say(turn: &mut Turn<'_>, pending: Pending, draft: &str) {
    let settings = &turn.policy.settings;
    let owed = pending.addressed.is_some();
    let names: Vec<&str> =
        std::iter::once(&settings.bot.name).chain(&settings.bot.aliases).map(String::as_str).collect();
    let chars_max = CHARS_PER_TOKEN_MAX * tokens_max(settings, pending.kind) as usize;
    let words = &*shortened(clean(draft, &names), chars_max);
    let chunks = chunks(words, settings.reply.chunks as usize);
    let mut posts: VecDeque<_> =
        split_each(&chunks, settings.reply.part_chars as usize, settings.reply.numbered).into();
    let is_name = |name: &str| turn.room.speakers.by_name(name).is_some();
    let silent = is_silence(words, owed, &is_name);
    let Some(parts) = posts.pop_front().filter(|_| !silent) else {
        return match owed {
            true => fail(turn, pending, "an empty answer"),
            false => end::end_silent(turn, pending, &Cause::NothingToSay),
        };
    };
    if let Some(closed) = gate::closed_for(turn, &pending, false) {
        return end::withhold(turn, pending, closed);
    }
    // A person who asks twice is answered twice.
    if !owed && has_said(turn, words) {
        return end::end_silent(turn, pending, &Cause::Repeated);
    }
    let text = Some(parts.join("\n").into());
    deliver::deliver(turn, pending, Draft { post: Post::Text(parts), text, rest: posts });
}

/// Whether the bot said nearly the same here recently, or is about to.
fn has_said(turn: &Turn<'_>, words: &str) -> bool {
    let place = turn.place();
    let said = place.recent(turn.policy, turn.now).filter(|heard| heard.voice() == Voice::Me);
    let on_its_way = place.bot.iter().flat_map(|bot| bot.on_its_way()).flat_map(|post| post.words());
    let similarity = turn.policy.settings.reply.repeat_similarity;
    is_repeat(words, said.map(|heard| heard.text()).chain(on_its_way), similarity)
}

/// What is being written under this call, if anything.
pub(super) fn take_writing(turn: &mut Turn<'_>, call: &CallId) -> Option<Pending> {
    let current = |slot: &Pending| matches!(&slot.phase, Phase::Writing { call: current, .. } if current == call);
    let place = turn.place_mut();
    let index = place.pending.iter().position(current);
    let unasked = index.map(|index| place.remove_pending(index));
    let owed = |bot: &mut BotState| bot.answering.take_if(|pending| current(pending)).map(|pending| *pending);
    let writing = unasked.or_else(|| place.bot.as_deref_mut().and_then(owed))?;
    turn.conversation = writing.conversation;
    Some(writing)
}

/// No words are available: an unasked contribution is dropped, and a person who addressed the bot gets one friendly line.
pub(super) fn fail(turn: &mut Turn<'_>, pending: Pending, what: &str) {
    if pending.addressed.is_none_or(|by| by == Addressed::Turn) {
        return end::end_silent(turn, pending, &Cause::Failed { what: what.into() });
    }
    match gate::closed_for(turn, &pending, false) {
        Some(closed) => end::withhold(turn, pending, closed),
        None => deliver::excuse(turn, pending, Excuse::NoWords, what),
    }
}
