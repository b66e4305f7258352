//! The sentence of a decision: what it did, why, and what that was weighed by.

use aizuchi_core::trace::{Outcome, Response, Trace};

use super::cause;
use crate::language::{Language, LocalizedMessage, LocalizedValue, message, say};

/// What it did and why, in words.
pub fn sentence(trace: &Trace, language: Language) -> String {
    let said: Vec<String> = parts(trace).iter().map(|part| part.say(language)).collect();
    say!(language, "decision", outcome = outcome(trace.outcome).say(language), why = said.join(" "))
}

/// Why, as data for the page: without what it did and the points, which it shows beside it.
pub fn why(trace: &Trace) -> Vec<LocalizedMessage> {
    [Some(cause(trace)), likelihood(trace), answered_with(trace), received(trace)].into_iter().flatten().collect()
}

fn parts(trace: &Trace) -> Vec<LocalizedMessage> {
    let weighed = likelihood(trace).or_else(|| score(trace));
    [Some(cause(trace)), weighed, answered_with(trace), received(trace)].into_iter().flatten().collect()
}

/// What it did.
pub fn outcome(outcome: Outcome) -> LocalizedMessage {
    match outcome {
        Outcome::Ignored => message!("outcome-ignored"),
        Outcome::Silent => message!("outcome-silent"),
        Outcome::Reacts => message!("outcome-reacts"),
        Outcome::Acknowledges => message!("outcome-acknowledges"),
        Outcome::Replies => message!("outcome-replies"),
    }
}

/// What spoke for joining or against it, by its id.
pub fn reason(id: &str) -> LocalizedMessage {
    message!(format!("because-{id}"))
}

fn score(trace: &Trace) -> Option<LocalizedMessage> {
    let score = trace.score.filter(|_| trace.addressed.is_none())?;
    let points = |(rule, points): (&str, i16)| {
        message!("score-points", rule = message!(format!("rule-{rule}")), points = format!("{points:+}"))
    };
    let given: Vec<LocalizedMessage> = trace.given().map(points).collect();
    Some(match given.is_empty() {
        true => message!("score-none", score = score),
        false => message!("score-given", score = score, given = given),
    })
}

/// What was learnt says of this message, and what it was compared with.
fn likelihood(trace: &Trace) -> Option<LocalizedMessage> {
    let p_join = trace.p_join.filter(|_| trace.addressed.is_none())?;
    let (p, compared) = (percent(p_join), compared(trace, p_join));
    let reasons: Vec<LocalizedMessage> = trace.main_reasons().iter().map(|main| reason(main.id)).collect();
    Some(match (compared.is_empty(), reasons.is_empty()) {
        (true, true) => message!("likelihood", p = p),
        (true, false) => message!("likelihood-because", p = p, reasons = reasons),
        (false, true) => message!("likelihood-compared", p = p, compared = compared),
        (false, false) => message!("likelihood-compared-because", p = p, compared = compared, reasons = reasons),
    })
}

fn compared(trace: &Trace, p_join: f32) -> Vec<LocalizedMessage> {
    let Some(bar) = trace.bar else { return Vec::new() };
    let mut compared = vec![message!("compared-threshold", p = percent(bar.threshold))];
    if bar.worth != p_join {
        compared.push(message!("compared-worth", p = percent(bar.worth)));
    }
    match bar.welcome {
        less if less < 0.995 => compared.push(message!("compared-less-welcome")),
        more if more > 1.005 => compared.push(message!("compared-welcome")),
        _ => (),
    }
    compared
}

/// Whole percents, and what is less than half of one as that.
fn percent(share: f32) -> LocalizedValue {
    LocalizedValue::Percent((100.0 * share).round_ties_even() as u32)
}

fn answered_with(trace: &Trace) -> Option<LocalizedMessage> {
    trace.answered_with.as_ref().map(|other| message!("answered-with", other = other))
}

fn received(trace: &Trace) -> Option<LocalizedMessage> {
    trace.received.map(|response| match response {
        Response::Thanked => message!("received-thanked"),
        Response::Answered => message!("received-answered"),
        Response::Reacted => message!("received-reacted"),
        Response::Ignored => message!("received-ignored"),
        Response::ToldOff => message!("received-told-off"),
        Response::Deleted => message!("received-deleted"),
    })
}
