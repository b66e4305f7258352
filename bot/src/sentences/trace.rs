//! The sentence of a decision: what the bot did, why, and which numbers decided.

use std::cmp::Ordering;

use aizuchi_core::likelihood::FEATURES;
use aizuchi_core::trace::{Bar, Outcome, Response, RestStopped, Trace};
use aizuchi_core::types::{Addressed, HeardAs};

use super::cause;
use crate::language::{Language, LocalizedMessage, LocalizedValue, message, say};

/// What the bot did and why, as text.
pub fn sentence(trace: &Trace, language: Language) -> String {
    let said: Vec<String> = parts(trace).iter().map(|part| part.say(language)).collect();
    say!(language, "decision", outcome = outcome_name(trace.outcome).say(language), why = said.join(" "))
}

/// The reasons as data for the page: without the outcome and the points, which it shows beside them.
pub fn why(trace: &Trace) -> Vec<LocalizedMessage> {
    [
        Some(cause(trace)),
        heard_as(trace),
        likelihood(trace),
        answered_with(trace),
        tools(trace),
        posts(trace),
        received(trace),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn parts(trace: &Trace) -> Vec<LocalizedMessage> {
    let weighed = likelihood(trace).or_else(|| score(trace));
    [Some(cause(trace)), heard_as(trace), weighed, answered_with(trace), tools(trace), posts(trace), received(trace)]
        .into_iter()
        .flatten()
        .collect()
}

/// What the bot did.
pub fn outcome_name(outcome: Outcome) -> LocalizedMessage {
    match outcome {
        Outcome::Ignored => message!("outcome-ignored"),
        Outcome::Silent => message!("outcome-silent"),
        Outcome::Reacts => message!("outcome-reacts"),
        Outcome::Acknowledges => message!("outcome-acknowledges"),
        Outcome::Replies => message!("outcome-replies"),
    }
}

/// A reason for or against joining, by its id.
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

/// What the learnt model says about this message, and what it was compared with.
fn likelihood(trace: &Trace) -> Option<LocalizedMessage> {
    if let Some(p_turn) = trace.p_turn.filter(|_| trace.its_turn || trace.addressed == Some(Addressed::Turn)) {
        return Some(message!("likelihood", chance = message!("chance-turn", p = percent(p_turn))));
    }
    let p_join = trace.p_join.filter(|_| trace.addressed.is_none())?;
    let reasons: Vec<LocalizedMessage> = trace.main_reasons().iter().map(|main| reason(main.id)).collect();
    let chance = match reasons.is_empty() {
        true => message!("chance", p = percent(p_join)),
        false => message!("chance-because", p = percent(p_join), reasons = reasons),
    };
    Some(match (trace.bar, change(trace, p_join)) {
        (None, _) => message!("likelihood", chance = chance),
        (Some(bar), None) => message!("likelihood-compared", chance = chance, needs = needs(bar)),
        (Some(bar), Some(change)) => {
            message!("likelihood-changed", chance = chance, change = change, needs = needs(bar))
        }
    })
}

/// How the settings changed the likelihood, and why: `score.call_odds` and `score.keyword_odds`.
fn change(trace: &Trace, p_join: f32) -> Option<LocalizedMessage> {
    let worth = trace.bar?.worth;
    let p = percent(worth);
    match worth.total_cmp(&p_join) {
        Ordering::Equal => None,
        Ordering::Less => Some(message!("change-lowered", p = p)),
        Ordering::Greater if asks_everybody(trace) => Some(message!("change-call", p = p)),
        Ordering::Greater => Some(message!("change-raised", p = p)),
    }
}

fn asks_everybody(trace: &Trace) -> bool {
    let call = FEATURES.iter().position(|feature| feature.id == "call").expect("it is one of the features");
    trace.features.0.as_deref().is_some_and(|values| values[call] > 0)
}

fn needs(bar: Bar) -> LocalizedMessage {
    let p = percent(bar.threshold);
    match bar.welcome {
        less if less < 0.995 => message!("needs-more", p = p),
        more if more > 1.005 => message!("needs-less", p = p),
        _ => message!("needs", p = p),
    }
}

/// Whole percents; less than half a percent is shown as that.
fn percent(share: f32) -> LocalizedValue {
    LocalizedValue::Percent((100.0 * share).round_ties_even() as u32)
}

fn heard_as(trace: &Trace) -> Option<LocalizedMessage> {
    trace.heard_as.map(|heard| match heard {
        HeardAs::NameInPassing => message!("heard-name-in-passing"),
        HeardAs::NameUnclear => message!("heard-name-unclear"),
        HeardAs::TalkAgain => message!("heard-talk-again", author = &*trace.author),
    })
}

fn answered_with(trace: &Trace) -> Option<LocalizedMessage> {
    trace.answered_with.as_ref().map(|other| message!("answered-with", other = other))
}

/// The tools it used for its answer.
fn tools(trace: &Trace) -> Option<LocalizedMessage> {
    let mut names: Vec<&str> = Vec::new();
    for tool in trace.tools.iter().filter(|tool| tool.ended == "returned") {
        if !names.contains(&&*tool.name) {
            names.push(&tool.name);
        }
    }
    (!names.is_empty()).then(|| message!("used-tools", tools = names.join(", ")))
}

/// How many posts its answer has, and why not more.
fn posts(trace: &Trace) -> Option<LocalizedMessage> {
    let chunks = trace.chunks.as_ref()?;
    let (posted, of) = (chunks.posted(), chunks.of);
    match &chunks.stopped {
        None if posted < of => None,
        None => Some(message!("posts-all", of = of)),
        Some(RestStopped::Muted) => Some(message!("posts-muted", posted = posted, of = of)),
        Some(RestStopped::Deleted) => Some(message!("posts-deleted", posted = posted, of = of)),
        Some(RestStopped::Forgotten) => Some(message!("posts-forgotten", posted = posted, of = of)),
        Some(RestStopped::Overdue(_)) => Some(message!("posts-overdue", posted = posted, of = of)),
        Some(RestStopped::Failed(what)) => Some(message!("posts-failed", posted = posted, of = of, what = &**what)),
    }
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
