//! Answers about the same talk, used again for a while.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Question;
use crate::effect::{Transcript, plain};
use crate::settings::Settings;
use crate::types::{Span, Time, stable_hash};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cache {
    /// Oldest first.
    answers: VecDeque<Cached>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Cached {
    key: u64,
    at: Time,
    answer: Box<str>,
}

/// The question and both logs; the place is where the cache is kept.
pub fn cache_key(question: Question, transcript: &Transcript) -> u64 {
    let earlier = stable_hash(question as u64, &plain(&transcript.earlier));
    stable_hash(earlier, &plain(&transcript.lines))
}

/// The judge itself is always asked: what it did meanwhile is part of its question.
fn is_kept(question: Question) -> bool {
    matches!(question, Question::State | Question::Same | Question::Changed)
}

impl Cache {
    pub fn get(&self, question: Question, key: u64, settings: &Settings, now: Time) -> Option<&str> {
        if !is_kept(question) {
            return None;
        }
        let life = Span::seconds(settings.judge.cache_seconds.into());
        let fresh = |cached: &&Cached| cached.key == key && now.since(cached.at) < life;
        self.answers.iter().rev().find(fresh).map(|cached| &*cached.answer)
    }

    pub fn put(&mut self, question: Question, key: u64, settings: &Settings, now: Time, answer: &str) {
        let life = Span::seconds(settings.judge.cache_seconds.into());
        if !is_kept(question) || life == Span::ZERO {
            return;
        }
        self.answers.retain(|cached| now.since(cached.at) < life);
        if self.answers.len() >= settings.judge.cache_answers_max as usize {
            self.answers.pop_front();
        }
        let answer = answer.chars().take(ANSWER_CHARS_MAX).collect();
        self.answers.push_back(Cached { key, at: now, answer });
    }
}

/// One-word answers are short; what goes on longer adds nothing.
const ANSWER_CHARS_MAX: usize = 200;
