//! The bot's turn: it takes part in this conversation, and continues in it without being addressed again.
//!
//! The likelihood that the bot is the next to speak (`p_turn`) is compared with two limits. From `score.turn_high` on, what
//! follows its own words within minutes counts as addressed to it; from `score.turn_low` on a judge is asked, with the
//! reason. The talk share and the floor share limit joining, not this; the loop guard and the limits per person apply.
//! Thanks get a reaction, assent gets nothing, and a message that calls on everybody is a message to the room.

use super::turn::Turn;
use super::{answer, decide, gate, interrupt, spoken_order, wait};
use crate::conversations::TextMarks;
use crate::gates::{Trigger, closed};
use crate::listen::{Tone, only_acknowledges, only_thanks, seems_to_call, speaks_to_everybody, tone};
use crate::phrases::is_filler;
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Addressed, Flags, HeardAs, Message, Span, Voice};

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
pub(super) fn continue_or_decide(turn: &mut Turn<'_>, message: &Message, trace: Box<Trace>) {
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
    if !settings.gates.unasked || !likely(settings.score.turn_low) || is_over || in_passing {
        return Move::None;
    }
    match reading(&spoken_order::without_names(turn, &message.text)) {
        SaidOnItsTurn::Thanks if settings.kinds.varied => return Move::React,
        SaidOnItsTurn::Thanks | SaidOnItsTurn::NeedsNothing | SaidOnItsTurn::ToEverybody => return Move::None,
        SaidOnItsTurn::GoesOn => (),
    }
    let asks = TextMarks::of(&message.text).1 > 0;
    if likely(settings.score.turn_high) && comes_after_its_words(turn, message, asks) && !seems_to_call(&message.text) {
        return Move::Answer;
    }
    if turn.policy.asks_a_model() { Move::Ask } else { Move::None }
}

/// What the words alone say, on the bot's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SaidOnItsTurn {
    ToEverybody,
    /// Thanks or praise and nothing else: "thanks, and on windows" goes on.
    Thanks,
    /// Assent, laughter, or a complaint about the bot.
    NeedsNothing,
    GoesOn,
}

/// `rest` is the text without the bot's names.
fn reading(rest: &str) -> SaidOnItsTurn {
    let asks = TextMarks::of(rest).1 > 0;
    if speaks_to_everybody(rest) {
        SaidOnItsTurn::ToEverybody
    } else if only_thanks(rest) {
        SaidOnItsTurn::Thanks
    } else if is_filler(rest) || only_acknowledges(rest) || tone(rest) == Tone::TellsOff && !asks {
        SaidOnItsTurn::NeedsNothing
    } else {
        SaidOnItsTurn::GoesOn
    }
}

/// Nobody else spoke since the bot did, and that was not long ago; a message without a question must follow sooner, unless
/// the bot asked for it.
fn comes_after_its_words(turn: &Turn<'_>, message: &Message, asks: bool) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a half of `own_turn.txt`, from the first or the second on, and those that are read otherwise than marked.
    fn misses(half: usize) -> (usize, Vec<String>) {
        let lines = include_str!("../../tests/words/own_turn.txt").lines().filter(|line| !line.starts_with('#'));
        let half: Vec<&str> = lines.skip(half).step_by(2).collect();
        let missed = half.iter().filter_map(|line| {
            let (mark, words) = line.split_once(' ').expect("a mark and a line");
            let read = reading(words);
            let right = match mark {
                "T" => read == SaidOnItsTurn::GoesOn,
                "R" => read == SaidOnItsTurn::Thanks,
                "A" | "B" => read == SaidOnItsTurn::NeedsNothing,
                "O" => read == SaidOnItsTurn::ToEverybody,
                other => panic!("unknown mark {other}"),
            };
            (!right).then(|| format!("{line}: {read:?}"))
        });
        (half.len(), missed.collect())
    }

    #[test]
    fn what_people_say_on_its_turn() {
        let (all, missed) = misses(0);
        println!("tuned: {} of {all} right", all - missed.len());
        assert!(20 * missed.len() <= all, "{missed:#?}");
    }

    #[test]
    fn what_people_say_on_its_turn_kept_apart() {
        let (all, missed) = misses(1);
        println!("held out: {} of {all} right", all - missed.len());
        assert!(10 * missed.len() <= all, "{} of {all} missed", missed.len());
    }

    #[test]
    fn requests_beside_thanks_are_no_thanks() {
        for (text, meant) in [
            ("ありがとう、でも動かない", SaidOnItsTurn::GoesOn),
            ("ありがとう！Windowsの場合も教えて", SaidOnItsTurn::GoesOn),
            ("thanks, now the same for windows", SaidOnItsTurn::GoesOn),
            ("does that work for everyone?", SaidOnItsTurn::GoesOn),
            ("can someone without root do that?", SaidOnItsTurn::GoesOn),
            ("それってみんな使えるの？", SaidOnItsTurn::GoesOn),
            ("that's wrong, I meant port 80", SaidOnItsTurn::GoesOn),
            ("違います、Windowsの方です", SaidOnItsTurn::GoesOn),
            ("パスワード認証をやめて鍵にしたい", SaidOnItsTurn::GoesOn),
            ("Perfect!", SaidOnItsTurn::Thanks),
            ("完璧！", SaidOnItsTurn::Thanks),
            ("got it", SaidOnItsTurn::NeedsNothing),
            ("承知しました", SaidOnItsTurn::NeedsNothing),
        ] {
            assert_eq!(reading(text), meant, "{text}");
        }
    }
}
