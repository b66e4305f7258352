//! The cause of a decision, as a message.

use std::borrow::Cow;

use aizuchi_core::gates::GATES;
use aizuchi_core::trace::{Cause, Closed, Stage, Trace, Unheard};
use aizuchi_core::types::{Addressed, Span, State};

use crate::language::{LocalizedMessage, message};

/// What decided about a message.
pub fn cause(trace: &Trace) -> LocalizedMessage {
    let author = &*trace.author;
    match &trace.cause {
        Cause::Unheard(why) => unheard(*why),
        Cause::Addressed(Addressed::Mention) => message!("cause-mention", author = author),
        Cause::Addressed(Addressed::Name) => message!("cause-name", author = author),
        Cause::Addressed(Addressed::Reply) => message!("cause-reply", author = author),
        Cause::Addressed(Addressed::Turn) => message!("cause-turn", author = author),
        Cause::Scheduled => message!("cause-scheduled", name = author),
        Cause::Thanked => message!("cause-thanked", author = author),
        Cause::ToldToBeQuiet(span) => message!("cause-told-to-be-quiet", author = author, span = *span),
        Cause::ToldToBeQuietUntilLifted => message!("cause-told-to-be-quiet-open", author = author),
        Cause::Unlikely => message!("cause-unlikely"),
        Cause::Likely => message!("cause-likely"),
        Cause::Low { low } => message!("cause-low", low = *low),
        Cause::High { high } => message!("cause-high", high = *high),
        Cause::OverThreshold { threshold } => message!("cause-over-threshold", threshold = *threshold),
        Cause::UnderThreshold { threshold } => message!("cause-under-threshold", threshold = *threshold),
        Cause::Closed(closed) => match trace.gate.as_deref().and_then(|gate| gate_closed(gate, *closed)) {
            Some(gate) => message!("cause-gate", gate = gate),
            None => message!("cause-held-back"),
        },
        Cause::Ending => message!("cause-ending"),
        Cause::Unchanged => message!("cause-unchanged"),
        Cause::SaidNo { reason } if reason.is_empty() => message!("cause-no"),
        Cause::SaidNo { reason } => message!("cause-no-because", reason = ended(reason).into_owned()),
        Cause::SaidYes { reason, delay, state } => said_yes(reason, *delay, *state),
        Cause::Failed { what } if trace.stage == Stage::Judge => message!("cause-judge-failed", what = &**what),
        Cause::Failed { what } => message!("cause-failed", what = &**what),
        Cause::Excused { what } => message!("cause-excused", author = author, what = &**what),
        Cause::CancelledBy(by) => message!("cause-cancelled", by = by),
        Cause::SupersededBy(by) => message!("cause-superseded", by = by),
        Cause::PartOf(by) => message!("cause-part-of", by = by),
        Cause::AnsweredBy(by) => message!("cause-answered-by", by = by),
        Cause::AnsweredInstead(by) => message!("cause-answered-instead", by = by),
        Cause::TooMany => message!("cause-too-many"),
        Cause::Deleted => message!("cause-deleted"),
        Cause::Forgotten => message!("cause-forgotten"),
        Cause::Stale { overdue } => message!("cause-stale", overdue = *overdue),
        Cause::NothingToSay => message!("cause-nothing-to-say"),
        Cause::Repeated => message!("cause-repeated"),
        Cause::Undecided => message!("cause-undecided"),
    }
}

fn unheard(why: Unheard) -> LocalizedMessage {
    match why {
        Unheard::Itself => message!("unheard-itself"),
        Unheard::Empty => message!("unheard-empty"),
        Unheard::Direct => message!("unheard-direct"),
        Unheard::ChannelOff => message!("unheard-channel-off"),
        Unheard::OtherBot => message!("unheard-other-bot"),
        Unheard::BotNotAnswered => message!("unheard-bot-not-answered"),
        Unheard::Repeated => message!("unheard-repeated"),
        Unheard::Late => message!("unheard-late"),
        Unheard::TooLate { late, limit, away: false } => message!("unheard-too-late", late = late, limit = limit),
        Unheard::TooLate { late, limit, away: true } => message!("unheard-too-late-away", late = late, limit = limit),
        Unheard::Missed { late } => message!("unheard-missed", late = late),
    }
}

/// The finding of a closed gate; `None` for a gate that this version does not know.
fn gate_closed(id: &str, found: Closed) -> Option<LocalizedMessage> {
    let gate = GATES.iter().find(|gate| gate.id == id)?;
    Some(message!(
        format!("gate-{}.closed", gate.id),
        have = found.have,
        need = found.need,
        have_time = Span::seconds(found.have),
        need_time = Span::seconds(found.need),
    ))
}

fn said_yes(reason: &str, delay: Span, state: Option<State>) -> LocalizedMessage {
    let state = state.unwrap_or(State::Active).word().to_lowercase();
    match (delay > Span::ZERO, reason.is_empty()) {
        (false, true) => message!("cause-yes", state = state),
        (false, false) => message!("cause-yes-because", state = state, reason = ended(reason).into_owned()),
        (true, true) => message!("cause-yes-wait", state = state, delay = delay),
        (true, false) => {
            let reason = ended(reason).into_owned();
            message!("cause-yes-wait-because", state = state, delay = delay, reason = reason)
        }
    }
}

/// A judge's words as a sentence with a full stop.
fn ended(reason: &str) -> Cow<'_, str> {
    let reason = reason.trim_end();
    if reason.ends_with(['.', '!', '?', '。', '！', '？', '…']) {
        reason.into()
    } else if reason.chars().any(is_japanese) {
        format!("{reason}。").into()
    } else {
        format!("{reason}.").into()
    }
}

fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}
