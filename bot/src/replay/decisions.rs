//! The decisions file: one line of JSON for each message of the log, in the order of the log.

use std::collections::BTreeMap;
use std::io::{self, Write};

use aizuchi_core::Trace;
use aizuchi_core::effect::{Outcome, QuestionTrace, Response, Stage};
use aizuchi_core::likelihood::Reason;
use aizuchi_core::listen::Addressed;
use aizuchi_core::types::HeardAs;
use serde::Serialize;
use serde_json::{Value, json};

use super::Decided;
use crate::language::Language;
use crate::sentences::{self, sentence};

#[derive(Serialize)]
struct DecisionLine<'a> {
    id: &'a str,
    at: f64,
    channel: &'a str,
    thread: Option<&'a str>,
    author: &'a str,
    score: Option<u8>,
    points: BTreeMap<&'static str, i16>,
    p_join: Option<f32>,
    p_turn: Option<f32>,
    reply_to_guess: Option<&'a str>,
    conversation: Option<String>,
    outcome: Outcome,
    stage: Stage,
    gate: Option<&'a str>,
    asked: Vec<QuestionLine<'a>>,
    acted_at: Option<f64>,
    reason: String,
}

#[derive(Serialize)]
struct QuestionLine<'a> {
    question: &'static str,
    at: f64,
    prompt_chars: u64,
    answer: &'a str,
    cached: bool,
    /// There was no answer; `answer` says why.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    failed: bool,
}

impl<'a> From<&'a QuestionTrace> for QuestionLine<'a> {
    fn from(asked: &'a QuestionTrace) -> QuestionLine<'a> {
        QuestionLine {
            question: asked.question.id(),
            at: asked.at.seconds(),
            prompt_chars: asked.prompt_chars,
            answer: &asked.answer,
            cached: asked.cached,
            failed: asked.failed,
        }
    }
}

impl<'a> DecisionLine<'a> {
    fn new(trace: &'a Trace, language: Language) -> DecisionLine<'a> {
        DecisionLine {
            id: trace.message.as_str(),
            at: trace.at.seconds(),
            channel: trace.place.room.as_str(),
            thread: trace.place.thread.as_ref().map(|thread| thread.as_str()),
            author: &trace.author,
            score: trace.score,
            points: trace.given().collect(),
            p_join: trace.p_join,
            p_turn: trace.p_turn,
            conversation: trace.conversation.map(|conversation| conversation.number().to_string()),
            reply_to_guess: trace.reply_to_guess.as_ref().map(|id| id.as_str()),
            outcome: trace.outcome,
            stage: trace.stage,
            gate: trace.gate.as_deref(),
            asked: trace.asked.iter().map(QuestionLine::from).collect(),
            acted_at: trace.acted_at.map(|at| at.seconds()),
            reason: sentence(trace, language),
        }
    }
}

/// A decision as in the decisions file, with its cost and how the bot was addressed. Its words are English.
pub fn decision(trace: &Trace) -> Value {
    let mut line = serde_json::to_value(DecisionLine::new(trace, Language::ENGLISH)).expect("a line is plain data");
    line["micros"] = trace.micros.into();
    line["dollars"] = (trace.micros as f64 / 1e6).into();
    line["received"] = trace.received.map(Response::words).into();
    let reason = |reason: Reason| json!([sentences::reason(reason.id).say(Language::ENGLISH), factor(&reason)]);
    line["reasons"] = trace.reasons().into_iter().map(reason).collect();
    line["answered_with"] = trace.answered_with.as_ref().map(|message| message.as_str()).into();
    line["addressed"] = trace.addressed.map(Addressed::id).into();
    line["heard_as"] = trace.heard_as.map(HeardAs::id).into();
    if !trace.tools.is_empty() {
        line["tools"] = json!(trace.tools);
    }
    line
}

/// The same for the page of the web room, which explains it in its own language: as messages, and with the ids of reasons.
pub fn decision_for_page(trace: &Trace) -> Value {
    let mut line = decision(trace);
    line["why"] = json!(sentences::why(trace));
    line["odds"] = trace.reasons().iter().map(|reason| json!([reason.id, factor(reason)])).collect();
    line
}

/// The factor by which it multiplied the odds.
fn factor(reason: &Reason) -> f64 {
    (f64::from(reason.log_odds).exp() * 100.0).round() / 100.0
}

pub fn write_decisions(decided: &[Decided], language: Language, out: &mut impl Write) -> io::Result<()> {
    for Decided { trace, .. } in decided {
        serde_json::to_writer(&mut *out, &DecisionLine::new(trace, language))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}
