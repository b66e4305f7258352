//! The figures of a replay.

use aizuchi_core::effect::Outcome;
use serde::Serialize;

use super::Decided;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReplaySummary {
    pub messages: u64,
    pub ignored: u64,
    pub replies: u64,
    pub acknowledgements: u64,
    pub reactions: u64,
    /// Questions sent to a model; reused answers are not counted.
    pub judge_calls: u64,
    pub judge_prompt_chars: u64,
    pub cached_answers: u64,
    /// Millionths of a dollar, at the prices of the settings.
    pub micros: u64,
}

impl ReplaySummary {
    pub fn of(decided: &[Decided]) -> ReplaySummary {
        let mut summary = ReplaySummary { messages: decided.len() as u64, ..ReplaySummary::default() };
        for Decided { trace, .. } in decided {
            match trace.outcome {
                Outcome::Ignored => summary.ignored += 1,
                Outcome::Silent => (),
                Outcome::Reacts => summary.reactions += 1,
                Outcome::Acknowledges => summary.acknowledgements += 1,
                Outcome::Replies => summary.replies += 1,
            }
            for asked in &trace.asked {
                if asked.cached {
                    summary.cached_answers += 1;
                } else {
                    summary.judge_calls += 1;
                    summary.judge_prompt_chars += asked.prompt_chars;
                }
            }
            summary.micros += trace.micros;
        }
        summary
    }

    /// A count per thousand messages.
    pub fn per_1000(&self, count: u64) -> f64 {
        if self.messages == 0 { 0.0 } else { count as f64 * 1000.0 / self.messages as f64 }
    }
}
