//! The judge of recorded days: the same question about the same message gets the answer that was recorded.

use std::collections::HashMap;

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::judge::Question;
use aizuchi_core::sim::Oracle;
use aizuchi_core::types::{MessageId, RoomId, Span};
use aizuchi_core::{Input, Trace};

use super::ReplayOracle;

/// The kind of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallKind {
    Question(Question),
    Words,
    Post,
}

type CallKey = (RoomId, MessageId, CallKind);

/// How long it took, and the result.
type TimedResult<T> = (Span, Result<T, Failure>);

/// The recorded results, and how long each took. If the same was asked twice, the later answer counts.
#[derive(Clone, Debug, Default)]
pub struct RecordedAnswers {
    words: HashMap<CallKey, TimedResult<Answer>>,
    posts: HashMap<(RoomId, MessageId), TimedResult<Vec<MessageId>>>,
}

impl RecordedAnswers {
    pub fn learn(&mut self, room: &RoomId, about: &MessageId, asked: CallKind, took: Span, input: &Input) {
        match input {
            Input::Judged(_, answer) | Input::Written(_, answer) => {
                self.words.insert((room.clone(), about.clone(), asked), (took, answer.clone()));
            }
            Input::Delivered(_, ids) => {
                self.posts.insert((room.clone(), about.clone()), (took, ids.clone()));
            }
            Input::Said(_)
            | Input::Changed(_)
            | Input::Reacted(_)
            | Input::Told(..)
            | Input::PolicyChanged(_)
            | Input::Tick
            | Input::Recalled(..)
            | Input::Remembered(..)
            // Only the words that were finally written count.
            | Input::ToolCalls(..)
            | Input::ToolResult(..)
            | Input::Refused(..)
            | Input::Scheduled(..)
            | Input::Billed(..)
            | Input::Siblings(..)
            | Input::StartedOver(_)
            | Input::LetGo(..)
            | Input::ClockSet(_)
            | Input::Forgotten
            | Input::Resumed => (),
        }
    }

    /// Fills in what only the stored decision knows, because the question was asked before the records begin. How long it
    /// took is unknown.
    pub fn learn_from(&mut self, trace: &Trace) {
        for asked in trace.asked.iter().filter(|asked| !asked.cached) {
            let key = (trace.place.room.clone(), trace.message.clone(), CallKind::Question(asked.question));
            let usage = Usage { calls: 1, prompt_chars: asked.prompt_chars, ..Usage::default() };
            let answer = match asked.failed {
                true => Err(Failure::new(asked.answer.clone())),
                false => Ok(Answer { text: asked.answer.clone(), usage }),
            };
            self.words.entry(key).or_insert((Span::ZERO, answer));
        }
    }
}

pub struct RecordedJudge {
    pub answers: RecordedAnswers,
    /// Answers questions that were never asked.
    pub otherwise: ReplayOracle,
}

impl Oracle for RecordedJudge {
    fn judge(&mut self, ask: &Ask) -> TimedResult<Answer> {
        self.otherwise.judge(ask)
    }

    fn judge_about(&mut self, ask: &Ask, message: &MessageId) -> TimedResult<Answer> {
        let key = (ask.call.room.clone(), message.clone(), CallKind::Question(ask.question));
        self.answers.words.get(&key).cloned().unwrap_or_else(|| self.otherwise.judge(ask))
    }

    fn write(&mut self, brief: &Brief) -> TimedResult<Answer> {
        let about = brief.answering.last().cloned().unwrap_or_else(|| MessageId::new(""));
        let key = (brief.place.room.clone(), about, CallKind::Words);
        self.answers.words.get(&key).cloned().unwrap_or_else(|| self.otherwise.write(brief))
    }

    fn deliver(&mut self, delivery: &Delivery) -> TimedResult<Vec<MessageId>> {
        if delivery.continues {
            return self.otherwise.deliver(delivery);
        }
        let key = (delivery.place.room.clone(), delivery.answering.clone());
        self.answers.posts.get(&key).cloned().unwrap_or_else(|| self.otherwise.deliver(delivery))
    }
}
