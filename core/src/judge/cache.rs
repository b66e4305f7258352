//! Reuses answers about the same talk for a while.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::settings::Settings;
use crate::transcript::Transcript;
use crate::types::{ClockShift, Question, Span, Time, stable_hash};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cache {
    /// Oldest first.
    answers: VecDeque<Cached>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cached {
    key: u64,
    at: Time,
    answer: Box<str>,
}

/// The question and both logs; the cache belongs to the place. `None` if answers are not cached: the judge itself is always
/// asked, since what the bot did meanwhile is part of its question.
pub(crate) fn cache_key(question: Question, transcript: &Transcript, settings: &Settings) -> Option<u64> {
    let is_kept = matches!(question, Question::State | Question::Same | Question::Changed);
    if !is_kept || settings.judge.cache_seconds == 0 {
        return None;
    }
    let earlier = stable_hash(question as u64, &transcript.earlier.plain());
    Some(stable_hash(earlier, &transcript.lines.plain()))
}

fn life(settings: &Settings) -> Span {
    Span::seconds(settings.judge.cache_seconds.into())
}

impl Cache {
    pub(crate) fn get(&self, key: u64, settings: &Settings, now: Time) -> Option<&str> {
        let fresh = |cached: &&Cached| cached.key == key && now.since(cached.at) < life(settings);
        self.answers.iter().rev().find(fresh).map(|cached| &*cached.answer)
    }

    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        self.answers.iter_mut().for_each(|cached| cached.at = cached.at.shifted(by));
    }

    pub(crate) fn put(&mut self, key: u64, settings: &Settings, now: Time, answer: &str) {
        while self.answers.front().is_some_and(|cached| now.since(cached.at) >= life(settings)) {
            self.answers.pop_front();
        }
        if self.answers.len() >= settings.judge.cache_answers_max as usize {
            self.answers.pop_front();
        }
        let answer = answer.chars().take(ANSWER_CHARS_MAX).collect();
        self.answers.push_back(Cached { key, at: now, answer });
    }
}

/// One-word answers are short; longer text adds nothing.
const ANSWER_CHARS_MAX: usize = 200;
