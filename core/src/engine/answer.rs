//! Answers people who addressed the bot: at once, or queued behind the answer that is being written or posted.

use super::turn::Turn;
use super::{deliver, end, exchange, gate, spoken_order, tools, write};
use crate::effect::Excuse;
use crate::gates::{Trigger, closed};
use crate::listen::only_thanks;
use crate::room::{Pending, Phase};
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Addressed, Kind, Message, Span, Voice};

/// How many messages are answered together with the one that gave the reason.
const TOGETHER_MAX: usize = 8;
/// How many answers may wait behind the next one.
const GROUPS_MAX: usize = 16;
/// How often a room is shown the line that too many people called.
const TOO_MANY_EVERY: Span = Span::minutes(5);

pub(super) fn was_addressed(turn: &mut Turn<'_>, message: &Message, mut trace: Box<Trace>, addressed: Addressed) {
    trace.addressed = Some(addressed);
    trace.score = turn.policy.settings.score.enabled.then(|| addressed.points() as u8);
    let its_turn = addressed == Addressed::Turn;
    let trigger = Trigger { its_turn, ..gate::trigger(turn, message, true, false) };
    if let Some(closed) = closed(&gate::case(turn, trigger)) {
        return turn.hold_back(trace, Stage::Gate, closed);
    }
    exchange::note_question(turn, message, &trace.author);
    call_off_for(turn, &trace);
    trace.cause = Cause::Addressed(addressed);
    let owed = Box::new(owed(turn, message, trace, addressed, Kind::Full));
    if turn.place().bot.as_ref().is_some_and(|bot| bot.is_busy()) {
        answer_next(turn, owed, message.heard.is_some());
    } else {
        write::write(turn, owed);
    }
}

/// Whether somebody addressed the bot only to thank or to praise it. Settings with the older behaviour answer that too.
pub(super) fn is_thanks(turn: &Turn<'_>, message: &Message) -> bool {
    let by_person = message.author.voice == Voice::Person && turn.policy.settings.score.learned;
    by_person && only_thanks(&spoken_order::without_names(turn, &message.text))
}

/// Thanks get a reaction at once, or nothing if the bot does not react.
pub(super) fn was_thanked(turn: &mut Turn<'_>, message: &Message, mut trace: Box<Trace>, addressed: Addressed) {
    trace.addressed = Some(addressed);
    trace.score = turn.policy.settings.score.enabled.then(|| addressed.points() as u8);
    trace.cause = Cause::Thanked;
    let trigger = gate::trigger(turn, message, true, false);
    if let Some(closed) = closed(&gate::case(turn, trigger)) {
        return turn.hold_back(trace, Stage::Gate, closed);
    }
    if !turn.policy.settings.kinds.varied {
        return turn.stay_silent(trace, Stage::Address, Cause::Thanked);
    }
    write::write(turn, Box::new(owed(turn, message, trace, addressed, Kind::Reaction)));
}

fn owed(turn: &Turn<'_>, message: &Message, trace: Box<Trace>, addressed: Addressed, kind: Kind) -> Pending {
    Pending {
        by_bot: message.author.voice == Voice::Bot,
        addressed: Some(addressed),
        conversation: turn.conversation,
        ..Pending::new(trace, kind, turn.now, Phase::Holding { due: turn.now })
    }
}

/// A person who calls gets one answer: anything pending for their conversation or for them is called off.
fn call_off_for(turn: &mut Turn<'_>, trace: &Trace) {
    let conversation = turn.conversation;
    let (off, on) = std::mem::take(&mut turn.place_mut().pending)
        .into_iter()
        .partition(|pending| pending.conversation == conversation || pending.trace.author_id == trace.author_id);
    turn.place_mut().pending = on;
    for pending in Vec::from_iter::<Vec<Pending>>(off) {
        end::end(turn, pending, &Cause::AnsweredInstead(trace.message.clone()));
    }
}

/// Somebody addressed the bot while it writes to somebody else: they are answered right after that, as many together as fit
/// into an answer. Records of earlier versions, which have no `queue`, are decided as they were then.
fn answer_next(turn: &mut Turn<'_>, mut owed: Box<Pending>, queue: bool) {
    let bot = turn.place_mut().bot_mut();
    let full = |group: &Pending| group.together.len() >= TOGETHER_MAX;
    let last = bot.later.pop().map(Box::new).or_else(|| bot.next.take());
    match last {
        Some(last) if last.has_begun() || (queue && full(&last)) => {
            bot.put_last(last);
            if bot.later.len() >= GROUPS_MAX {
                return tell_too_many(turn, *owed);
            }
        }
        last => owed.together = last.into_iter().flat_map(|group| group.traces()).collect(),
    }
    if owed.together.len() > TOGETHER_MAX {
        let oldest = owed.together.remove(0);
        turn.stay_silent(Box::new(oldest), Stage::Post, Cause::AnsweredInstead(owed.trace.message.clone()));
    }
    turn.place_mut().bot_mut().put_last(owed);
}

/// Writes to the people who addressed the bot meanwhile. They wait while an answer in several posts is sent, so that the
/// next writer sees all of it.
pub(super) fn write_next(turn: &mut Turn<'_>) {
    while let Some(bot) = turn.place_mut().bot.as_mut().filter(|bot| !bot.is_busy())
        && let Some(next) = bot.take_next()
    {
        match without_lost(turn, next) {
            Some(next) if next.wants_tools() => tools::run_next(turn, next),
            Some(next) => write::write(turn, next),
            None => (),
        }
    }
}

/// Removes messages after which so much was said that they can no longer be shown to a writer; their authors get a line
/// that says so. An answer that has begun is continued whatever was said since: a person may have agreed to a tool for it,
/// and what a schedule asks for is no message.
fn without_lost(turn: &mut Turn<'_>, next: Box<Pending>) -> Option<Box<Pending>> {
    let buffer = &turn.place().buffer;
    let is_lost = |trace: &Trace| buffer.find(trace.message.as_str()).is_none();
    let addressed_kept = turn.policy.settings.listen.addressed_kept;
    if !addressed_kept || next.has_begun() || !next.together.iter().chain([&*next.trace]).any(is_lost) {
        return Some(next);
    }
    let parts = |pending: &Pending, traces: Vec<Trace>| {
        let mut traces = traces;
        let trace = Box::new(traces.pop()?);
        Some(Pending { trace, together: traces, ..pending.clone() })
    };
    let (lost, shown): (Vec<Trace>, Vec<Trace>) = (*next).clone().traces().partition(is_lost);
    let (lost, shown) = (parts(&next, lost), parts(&next, shown));
    if let Some(lost) = lost {
        tell_too_many(turn, lost);
    }
    shown.map(Box::new)
}

/// More people called than can be answered: one line for all of them, and not again for a while.
fn tell_too_many(turn: &mut Turn<'_>, pending: Pending) {
    if let Some(closed) = gate::closed_for(turn, &pending, false) {
        return end::withhold(turn, pending, closed);
    }
    if turn.room.excused_at.is_some_and(|at| turn.now.since(at) < TOO_MANY_EVERY) {
        return end::end_silent(turn, pending, &Cause::TooMany);
    }
    turn.room.excused_at = Some(turn.now);
    deliver::excuse(turn, pending, Excuse::TooMany, "too many addressed it at once");
}
