//! A scripted oracle: what models answer, how long they take, what fails.

use super::Oracle;
use crate::effect::{Ask, Brief, Delivery, Failure, Remember, Transcript, Usage};
use crate::input::Answer;
use crate::judge::Question;
use crate::policy::Policies;
use crate::settings::JudgeStyle;
use crate::types::{CallId, MessageId, Span};
use crate::usage::tokens_of_bytes;

/// Answers with the first line that matches, and agrees or declines if none does.
#[derive(Clone, Debug)]
pub struct StandIn {
    pub lines: Vec<ScriptLine>,
    /// What the judge says if no line matches.
    pub agrees: bool,
    policies: Policies,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptLine {
    /// A question, `write`, `deliver` or `remember`.
    pub question: String,
    /// Matches only if the model's input contains this.
    pub holds: Option<String>,
    pub answer: Result<String, String>,
    pub latency: Span,
}

impl StandIn {
    pub fn new(agrees: bool, lines: Vec<ScriptLine>, policies: &Policies) -> StandIn {
        StandIn { lines, agrees, policies: policies.clone() }
    }

    fn line(&self, question: &str, shown: &str) -> Option<&ScriptLine> {
        let fits = |line: &&ScriptLine| {
            line.question == question && line.holds.as_ref().is_none_or(|holds| shown.contains(holds.as_str()))
        };
        self.lines.iter().find(fits)
    }

    fn answer(
        &self,
        question: &str,
        call: &CallId,
        model: &str,
        transcript: &Transcript,
        otherwise: impl FnOnce() -> String,
    ) -> (Span, Result<Answer, Failure>) {
        let line = self.line(question, &transcript.plain());
        let text = line.map_or_else(|| Ok(otherwise()), |line| line.answer.clone());
        let bill = |text: String| {
            let (tokens_in, tokens_out) = (transcript.tokens(), tokens_of_bytes(text.len()));
            let micros = self.policies.for_room(call.room.as_str()).price(model).micros(tokens_in, tokens_out);
            let usage = Usage { calls: 1, prompt_chars: transcript.chars(), tokens_in, tokens_out, micros };
            Answer { text: text.into(), usage }
        };
        (line.map_or(Span::ZERO, |line| line.latency), text.map(bill).map_err(Failure::new))
    }

    /// The conversation is active, still the same, and has changed; yes or no, at once.
    fn plain_answer(&self, question: Question, style: JudgeStyle) -> String {
        let agrees = self.agrees;
        match (question, style) {
            (Question::State, _) => "ACTIVE".into(),
            (Question::Same, _) => "SAME".into(),
            (Question::Changed, _) => "CHANGED".into(),
            (Question::Judge, JudgeStyle::Ladder) => if agrees { "YES" } else { "NO" }.into(),
            (Question::Judge, JudgeStyle::Delay) => {
                format!(r#"{{"should_respond": {agrees}, "reason": "", "confidence": 1.0, "delay_seconds": 0}}"#)
            }
            (Question::Judge, _) => format!(r#"{{"respond": {agrees}, "reason": ""}}"#),
            (Question::Join, _) => format!(
                r#"{{"state": "ACTIVE", "changed": "CHANGED", "respond": {agrees}, "kind": "full", "delay_seconds": 0, "confidence": 1.0, "reason": ""}}"#
            ),
        }
    }
}

impl Oracle for StandIn {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>) {
        self.answer(ask.question.id(), &ask.call, &ask.model, &ask.transcript, || {
            self.plain_answer(ask.question, ask.style)
        })
    }

    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>) {
        self.answer("write", &brief.call, &brief.model, &brief.transcript, || "(…)".into())
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        let line = self.line("deliver", "");
        let done = match line.map(|line| &line.answer) {
            Some(Err(what)) => Err(Failure::new(what.as_str())),
            Some(Ok(_)) | None => Ok(vec![MessageId::new(format!("@me {}", delivery.call))]),
        };
        (line.map_or(Span::ZERO, |line| line.latency), done)
    }

    fn remember(&mut self, _: &Remember) -> (Span, Result<Usage, Failure>) {
        let line = self.line("remember", "");
        let done = match line.map(|line| &line.answer) {
            Some(Err(what)) => Err(Failure::new(what.as_str())),
            Some(Ok(_)) | None => Ok(Usage::default()),
        };
        (line.map_or(Span::ZERO, |line| line.latency), done)
    }
}
