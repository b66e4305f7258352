//! Somebody tells the bot in words to be quiet, or that it may talk again: orders that no model decides about.

use super::end;
use super::turn::Turn;
use crate::conversations::TextMarks;
use crate::listen::{Address, QuietTime, SaidTo, allowed_to_talk, asked_to_be_quiet, plainly_allowed_to_talk};
use crate::room::Mute;
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Addressed, Flags, HeardAs, Message, MessageId, Span, Voice};

/// The order.
pub(super) enum SpokenOrder {
    BeQuiet(QuietTime),
    TalkAgain,
}

/// How long what people say may refer to the bot's post, if nobody else spoke in between.
const POST_ECHOES_FOR: Span = Span::minutes(5);

/// Nobody gives an order in a longer message.
const ORDER_BYTES_MAX: usize = 4000;

/// The order in a message, if orders in words are obeyed.
pub(super) fn order_in(turn: &Turn<'_>, message: &Message, address: Address) -> Option<SpokenOrder> {
    if turn.policy.settings.address.be_quiet_minutes == 0 || message.text.len() > ORDER_BYTES_MAX {
        return None;
    }
    let rest = || without_names(turn, &message.text);
    let may_talk = match address {
        Address::Me(_) => turn.room.is_muted(turn.now) && allowed_to_talk(&rest()),
        Address::TheRoom => turn.room.is_muted_by_words(turn.now) && plainly_allowed_to_talk(&rest()),
        Address::SomebodyElse => false,
    };
    let author = turn.room.speakers.key(&message.author.id);
    if may_talk {
        return (!calls_somebody_else(turn, author, &rest())).then_some(SpokenOrder::TalkAgain);
    }
    let said_to = match address {
        Address::Me(_) if message.mentions.iter().all(|person| *person == message.author.id) => SaidTo::Bot,
        Address::Me(_) => SaidTo::NobodyAfterItsPost,
        Address::TheRoom => own_post_before(turn, message)?,
        Address::SomebodyElse => return None,
    };
    let rest = rest();
    let time = asked_to_be_quiet(&rest, said_to)?;
    (!calls_somebody_else(turn, author, &rest)).then_some(SpokenOrder::BeQuiet(time))
}

/// The order to be quiet that a message became when a person edited it. It was said to the bot if it calls it now, or is being
/// answered.
pub(super) fn quiet_order_in_edit(turn: &Turn<'_>, id: &MessageId, text: &str) -> Option<QuietTime> {
    if turn.policy.settings.address.be_quiet_minutes == 0 || text.len() > ORDER_BYTES_MAX {
        return None;
    }
    let heard = turn.place().buffer.get_by_id(id.as_str()).filter(|heard| heard.voice() == Voice::Person)?;
    let is_answered = || turn.place().unanswered().any(|pending| pending.trace.message == *id);
    if turn.policy.names.finder.find_all(text).next().is_none() && !is_answered() {
        return None;
    }
    let rest = without_names(turn, text);
    let time = asked_to_be_quiet(&rest, SaidTo::Bot)?;
    (!calls_somebody_else(turn, turn.room.speakers.key_at(heard.speaker), &rest)).then_some(time)
}

/// Whether a part of the text is the name of somebody else who is known here: 「田中、静かにして」 is said to them.
fn calls_somebody_else(turn: &Turn<'_>, author: u64, rest: &str) -> bool {
    const PARTS_MAX: usize = 8;
    let known = &turn.room.speakers;
    let parts =
        rest.split([',', '、', '，', '!', '！', '.', '。', '\n']).map(str::trim).filter(|part| !part.is_empty());
    parts
        .take(PARTS_MAX)
        .filter(|name| known.by_name(name).is_some_and(|key| key != author))
        // A person may have the name "please".
        .any(|name| asked_to_be_quiet(&format!("be quiet, {name}"), SaidTo::Bot).is_none())
}

/// The previous message, if it is a recent post of the bot. One message of the same person may be in between.
fn own_post_before(turn: &Turn<'_>, message: &Message) -> Option<SaidTo> {
    let heard = || turn.place().buffer.iter().rev();
    let author = heard().find(|heard| heard.has_id(message.id.as_str())).map(|heard| heard.speaker);
    let mut before = heard().filter(|heard| !heard.has_id(message.id.as_str()));
    let own = match before.next() {
        Some(first) if first.flags.has(Flags::OWN) => Some(first),
        Some(first) if Some(first.speaker) == author => before.next().filter(|second| second.flags.has(Flags::OWN)),
        Some(_) | None => None,
    };
    let own = own.filter(|own| turn.now.since(own.at) <= POST_ECHOES_FOR)?;
    let asks = TextMarks::of(own.text()).1 > 0;
    Some(if asks { SaidTo::NobodyAfterItsQuestion } else { SaidTo::NobodyAfterItsPost })
}

/// The text without the bot's names and mentions.
pub(super) fn without_names(turn: &Turn<'_>, text: &str) -> String {
    let mut rest = text.to_owned();
    while let Some(start) = rest.find("<@") {
        let Some(end) = rest[start..].find('>') else { break };
        rest.replace_range(start..start + end + 1, ", ");
    }
    let names: Vec<_> = turn.policy.names.finder.find_all(&rest).collect();
    names.into_iter().rev().for_each(|name| rest.replace_range(name, ", "));
    rest.replace(['@', '＠'], "")
}

pub(super) fn be_quiet(turn: &mut Turn<'_>, mut trace: Box<Trace>, addressed: Option<Addressed>, time: QuietTime) {
    let cause = mute(turn, time);
    trace.addressed = addressed;
    trace.gate = Some("mute".into());
    turn.stay_silent(trace, Stage::Gate, cause);
}

/// Mutes the room, and ends what it was about to say in all its places.
pub(super) fn mute(turn: &mut Turn<'_>, time: QuietTime) -> Cause {
    let usual = Span::minutes(turn.policy.settings.address.be_quiet_minutes.into());
    // A mute by command is lifted by a command, or by a person who addresses the bot.
    let by_words = turn.room.muted_by_words || !turn.room.is_muted(turn.now);
    let cause = match time.span(usual, turn.now, &turn.policy.zone) {
        Some(span) => {
            turn.room.mute_at_least(span, turn.now);
            Cause::ToldToBeQuiet(span)
        }
        None => {
            turn.room.set_mute(Some(Mute::Open), by_words, turn.now);
            Cause::ToldToBeQuietUntilLifted
        }
    };
    turn.room.muted_by_words = by_words;
    let threads = turn.room.thread_ids();
    let here = turn.thread.clone();
    for thread in threads {
        turn.thread = thread;
        end::call_off_as_muted(turn);
    }
    turn.thread = here;
    cause
}

/// Lifts a mute; the person who said so to the bot is answered like anybody who addresses it.
pub(super) fn talk_again(turn: &mut Turn<'_>, trace: &mut Trace) {
    turn.room.set_mute(None, false, turn.now);
    trace.heard_as = Some(HeardAs::TalkAgain);
}
