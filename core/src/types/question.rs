//! The questions that a model can be asked.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Question {
    /// What state is the conversation in?
    State,
    /// Is it still the conversation it joined last?
    Same,
    /// Has the situation changed since?
    Changed,
    /// Should it join in?
    Judge,
    /// All of that at once.
    Join,
}

impl Question {
    pub fn id(self) -> &'static str {
        match self {
            Question::State => "state",
            Question::Same => "same",
            Question::Changed => "changed",
            Question::Judge => "judge",
            Question::Join => "join",
        }
    }
}

/// The state of a conversation, in order of precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    Ending,
    Misunderstanding,
    Conflict,
    Active,
}

impl State {
    pub const ALL: [State; 4] = [State::Ending, State::Misunderstanding, State::Conflict, State::Active];

    pub fn word(self) -> &'static str {
        match self {
            State::Ending => "ENDING",
            State::Misunderstanding => "MISUNDERSTANDING",
            State::Conflict => "CONFLICT",
            State::Active => "ACTIVE",
        }
    }
}
