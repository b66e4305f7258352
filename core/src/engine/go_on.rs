//! The bot's turn: it takes part in this conversation, and continues in it without being addressed again.
//!
//! The likelihood that the bot is the next to speak (`p_turn`) is compared with two limits. From `score.turn_high` on, what
//! follows its own words within minutes counts as addressed to it; from `score.turn_low` on a judge is asked, with the
//! reason. The talk share and the floor share limit joining, not this; the loop guard and the limits per person apply.
//! Thanks get a reaction, assent gets nothing, and a message that calls on everybody is a message to the room.

use super::turn::Turn;
use super::{answer, decide, gate, interrupt, wait};
use crate::conversations::TextMarks;
use crate::gates::{Trigger, closed};
use crate::listen::{Tone, seems_to_call, speaks_to_everybody, tone};
use crate::phrases::is_filler;
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Addressed, Flags, HeardAs, Message, Span, Voice};

/// A longer message of thanks says more than thanks.
const THANKS_MAX: usize = 40;

/// How long the bot counts as having just spoken, or recently.
const JUST: Span = Span::minutes(2);
const LATELY: Span = Span::minutes(10);
/// How long after its last words a conversation may still be the bot's turn.
const LASTS: Span = Span::minutes(24 * 60);

/// What the bot does on its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Answer,
    Ask,
    React,
    /// It is not its turn.
    None,
}

/// A message to the room.
pub(super) fn go_on_or_decide(turn: &mut Turn<'_>, message: &Message, trace: Box<Trace>) {
    match next_move(turn, message, &trace) {
        Move::Answer => answer::was_addressed(turn, message, trace, Addressed::Turn),
        Move::Ask => take_up(turn, message, trace, true),
        Move::React => take_up(turn, message, trace, false),
        Move::None => decide::decide(turn, message, trace, false),
    }
}

fn next_move(turn: &Turn<'_>, message: &Message, trace: &Trace) -> Move {
    let settings = &turn.policy.settings;
    let by_person = message.author.voice == Voice::Person && settings.score.learned;
    let Some(p_turn) = trace.p_turn.filter(|_| by_person) else { return Move::None };
    let likely = |percent: u32| 100.0 * p_turn >= percent as f32;
    let is_over = turn.place().acted_at().is_none_or(|acted| message.at.since(acted) > LASTS);
    let in_passing = trace.heard_as == Some(HeardAs::NameInPassing);
    if !likely(settings.score.turn_low) || is_over || in_passing || speaks_to_everybody(&message.text) {
        return Move::None;
    }
    let asks = TextMarks::of(&message.text).1 > 0;
    let is_all = !asks && message.text.chars().count() <= THANKS_MAX;
    let tone = tone(&message.text);
    if tone == Tone::Thanks && is_all {
        return if settings.kinds.varied { Move::React } else { Move::None };
    }
    if (tone == Tone::TellsOff && !asks) || is_filler(&message.text) {
        return Move::None;
    }
    if likely(settings.score.turn_high) && follows_its_words(turn, message, asks) && !seems_to_call(&message.text) {
        return Move::Answer;
    }
    if settings.gates.unasked && turn.policy.asks_a_model() { Move::Ask } else { Move::None }
}

/// Nobody else spoke since the bot did, and that was not long ago; a message without a question must follow sooner, unless
/// the bot asked for it.
fn follows_its_words(turn: &Turn<'_>, message: &Message, asks: bool) -> bool {
    let before = turn.place().buffer.iter().rev().nth(1);
    before.filter(|before| before.flags.has(Flags::OWN)).is_some_and(|own| {
        let was_asked = TextMarks::of(own.text()).1 > 0;
        message.at.since(own.at) <= if asks || was_asked { LATELY } else { JUST }
    })
}

/// Takes it up as the bot's turn: with the judge's consent, or with a reaction alone.
fn take_up(turn: &mut Turn<'_>, message: &Message, mut trace: Box<Trace>, ask: bool) {
    trace.its_turn = true;
    let since = interrupt::interrupt(turn, message, &trace);
    let trigger = Trigger { its_turn: true, paid: ask, ..gate::trigger(turn, message, false, false) };
    if let Some(closed) = closed(&gate::case(turn, trigger)) {
        wait::postpone(turn);
        return turn.hold_back(trace, Stage::Gate, closed);
    }
    trace.cause = if ask { Cause::Undecided } else { Cause::Thanked };
    wait::take_up(turn, message, trace, ask, since);
}
