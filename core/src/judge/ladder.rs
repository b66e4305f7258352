//! The order of the questions: one after the other in a ladder, or one alone.

use serde::{Deserialize, Serialize};

use super::parse::{Parsed, Verdict};
use crate::settings::{JudgeStyle, Settings};
use crate::types::{Question, State};

/// The question that was asked, and what earlier answers have shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgeLadder {
    pub style: JudgeStyle,
    pub question: Question,
    pub known: LadderFindings,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderFindings {
    /// Whether the bot contributed here recently.
    pub intervened: bool,
    pub state: Option<State>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Ask(JudgeLadder),
    Ending,
    Unchanged,
    Decided(Verdict),
}

impl JudgeLadder {
    pub fn first(style: JudgeStyle, intervened: bool) -> JudgeLadder {
        let question = match style {
            JudgeStyle::Ladder => Question::State,
            JudgeStyle::Join => Question::Join,
            JudgeStyle::Respond | JudgeStyle::Delay | JudgeStyle::None => Question::Judge,
        };
        JudgeLadder { style, question, known: LadderFindings { intervened, state: None } }
    }

    fn ask(self, question: Question) -> Next {
        Next::Ask(JudgeLadder { question, ..self })
    }

    /// The step after an answer. A failed call is no answer: `None`.
    pub fn next(mut self, answer: Option<Parsed>) -> Result<Next, NoVerdict> {
        match (self.question, answer) {
            (Question::State, answer) => {
                let state = if let Some(Parsed::State(state)) = answer { state } else { State::Active };
                self.known.state = Some(state);
                Ok(match (state, self.known.intervened) {
                    (State::Ending, _) => Next::Ending,
                    (_, true) => self.ask(Question::Same),
                    (_, false) => self.ask(Question::Judge),
                })
            }
            (Question::Same, Some(Parsed::Same(false))) => Ok(self.ask(Question::Judge)),
            (Question::Same, _) => Ok(self.ask(Question::Changed)),
            (Question::Changed, Some(Parsed::Changed(false))) => Ok(Next::Unchanged),
            (Question::Changed, _) => Ok(self.ask(Question::Judge)),
            (Question::Judge | Question::Join, Some(Parsed::Verdict(verdict))) => Ok(self.weigh(verdict)),
            (Question::Judge | Question::Join, _) => Err(NoVerdict),
        }
    }

    /// A verdict that also names the state is checked against it.
    fn weigh(self, verdict: Verdict) -> Next {
        match (self.question, verdict.state) {
            (Question::Join, Some(State::Ending)) => Next::Ending,
            (Question::Join, _)
                if self.known.intervened && verdict.same != Some(false) && verdict.changed == Some(false) =>
            {
                Next::Unchanged
            }
            _ => Next::Decided(Verdict { state: verdict.state.or(self.known.state), ..verdict }),
        }
    }
}

/// No answer says whether to speak, which means silence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoVerdict;

impl Question {
    /// The maximum length of its answer.
    pub fn tokens_max(self, settings: &Settings) -> u32 {
        match self {
            Question::State | Question::Same | Question::Changed => settings.judge.tokens_short,
            Question::Judge | Question::Join => settings.judge.tokens_judge,
        }
    }
}
