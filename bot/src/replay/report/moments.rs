//! Single messages with their reasons: those that the bot would have answered, and those that it nearly would have.

use std::cmp::Reverse;

use aizuchi_core::effect::{Cause, Outcome, QuestionTrace, Trace};
use aizuchi_core::types::Span;
use serde::Serialize;

use super::scores::score_of;
use super::tally::acted;
use super::words;
use crate::language::{Language, LocalizedValue, say};
use crate::replay::Decided;
use crate::sentences::{outcome_name, sentence};

const MOMENTS_MAX: usize = 300;
const MISSES_MAX: usize = 20;
const TEXT_CHARS: usize = 300;
const ANSWER_CHARS: usize = 200;
const NAME_CHARS: usize = 60;

#[derive(Serialize)]
pub struct Moment {
    pub outcome: Outcome,
    pub action: String,
    pub at: String,
    pub machine_at: Option<String>,
    /// How long the bot waited before it spoke.
    pub waited: Option<String>,
    pub place: String,
    pub author: String,
    pub text: String,
    pub score: Option<u8>,
    pub sentence: String,
    pub exchange: Vec<Exchange>,
}

#[derive(Serialize)]
pub struct Exchange {
    pub question: &'static str,
    pub answer: String,
    pub is_cached: bool,
    pub is_failed: bool,
    pub chars: String,
}

#[derive(Serialize)]
pub struct Moments {
    pub shown: Vec<Moment>,
    pub all: String,
    /// How many more there are than shown.
    pub left_out: Option<String>,
}

/// Where the bot would have spoken, spread evenly over the log.
pub fn moments(decided: &[Decided], language: Language) -> Moments {
    let spoken: Vec<&Decided> = decided.iter().filter(|one| acted(one.trace.outcome)).collect();
    let shown: Vec<Moment> = spread(&spoken, MOMENTS_MAX).map(|one| moment(one, language)).collect();
    let left_out = spoken.len() - shown.len();
    Moments {
        shown,
        all: words::count(spoken.len() as u64),
        left_out: (left_out > 0).then(|| words::count(left_out as u64)),
    }
}

/// Where the bot came closest to speaking and did not: the highest scores, or else what the judge refused.
pub fn near_misses(decided: &[Decided], language: Language) -> Vec<Moment> {
    let mut missed: Vec<&Decided> = decided.iter().filter(|one| is_near_miss(&one.trace)).collect();
    if missed.iter().all(|one| one.trace.score.is_none()) {
        return spread(&missed, MISSES_MAX).map(|one| moment(one, language)).collect();
    }
    missed.sort_by_key(|one| Reverse((one.trace.score, said_no(&one.trace))));
    missed.into_iter().take(MISSES_MAX).map(|one| moment(one, language)).collect()
}

fn is_near_miss(trace: &Trace) -> bool {
    let has_better = matches!(trace.cause, Cause::SupersededBy(_) | Cause::PartOf(_) | Cause::AnsweredInstead(_));
    let has_reason = trace.addressed.is_some() || trace.score.is_some_and(|score| score > 0) || said_no(trace);
    trace.outcome == Outcome::Silent && has_reason && !has_better
}

fn said_no(trace: &Trace) -> bool {
    matches!(trace.cause, Cause::SaidNo { .. })
}

fn spread<'a>(all: &'a [&'a Decided], most: usize) -> impl Iterator<Item = &'a Decided> {
    let taken = all.len().min(most);
    (0..taken).map(move |nth| all[nth * all.len() / taken])
}

fn moment(decided: &Decided, language: Language) -> Moment {
    let Decided { trace, text } = decided;
    let waited = trace.acted_at.map(|acted_at| acted_at.since(trace.at)).filter(|waited| *waited >= Span::seconds(1));
    Moment {
        outcome: trace.outcome,
        action: outcome_name(trace.outcome).say(language),
        at: words::time(trace.at),
        machine_at: words::machine_time(trace.at),
        waited: waited.map(|waited| LocalizedValue::from(waited).say(language)),
        place: words::harmless_line(&trace.place.to_string(), NAME_CHARS),
        author: words::harmless_line(&trace.author, NAME_CHARS),
        text: words::harmless(text, TEXT_CHARS),
        score: score_of(decided),
        sentence: words::harmless_line(&sentence(trace, language), TEXT_CHARS),
        exchange: trace.asked.iter().map(|asked| exchange(asked, language)).collect(),
    }
}

fn exchange(asked: &QuestionTrace, language: Language) -> Exchange {
    Exchange {
        question: asked.question.id(),
        answer: words::harmless(&asked.answer, ANSWER_CHARS),
        is_cached: asked.cached,
        is_failed: asked.failed,
        chars: say!(language, "report-characters", n = LocalizedValue::Count(asked.prompt_chars)),
    }
}
