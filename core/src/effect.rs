//! Everything we can ask for.

use serde::{Deserialize, Serialize};

use crate::judge::{History, Question, State};
use crate::settings::JudgeStyle;
pub use crate::trace::{Asked, Cause, Outcome, Stage, Trace};
use crate::types::{CallId, MessageId, Place, Time, Voice};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Ask a model; answered by `Input::Judged`.
    Ask(Box<Ask>),
    /// Have an answer written; answered by `Input::Written`.
    Write(Box<Brief>),
    /// Post; answered by `Input::Delivered`. Nothing else is ever posted.
    Deliver(Box<Delivery>),
    /// The result of this call is no longer wanted.
    Abort(CallId),
    /// A decision is final.
    Trace(Box<Trace>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub call: CallId,
    pub at: Time,
    pub question: Question,
    /// In which form the answer is wanted.
    pub style: JudgeStyle,
    pub model: Box<str>,
    pub tokens_max: u32,
    pub transcript: Transcript,
}

/// What a model is shown: people's words as data, to be framed by whoever makes a prompt of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// The talk as it is now, oldest first.
    pub lines: Vec<Line>,
    /// The talk it stepped into last, where the question compares the two.
    pub earlier: Vec<Line>,
    /// What it did here lately, where the judge is told.
    pub history: Option<History>,
    /// The state of the talk, where an earlier answer gave it.
    pub state: Option<State>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub id: Box<str>,
    pub name: Box<str>,
    pub voice: Voice,
    pub text: Box<str>,
}

/// `name: text` by line. A line break inside a message becomes a mark, so that nobody can write somebody else's line.
pub fn plain(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        if !text.is_empty() {
            text.push('\n');
        }
        let mut add = |words: &str| text.extend(words.chars().map(|c| if is_line_break(c) { '⏎' } else { c }));
        add(&line.name);
        add(": ");
        add(&line.text);
    }
    text
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

impl Transcript {
    /// Everything in it as one text: the earlier talk, the talk, what is known of both.
    pub fn plain(&self) -> String {
        let mut parts = Vec::new();
        if !self.earlier.is_empty() {
            parts.push(plain(&self.earlier));
        }
        parts.push(plain(&self.lines));
        parts.extend(self.state.map(|state| state.word().to_owned()));
        parts.extend(self.history.as_ref().map(History::text));
        parts.join("\n\n")
    }
}

/// The order for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brief {
    pub call: CallId,
    pub at: Time,
    pub place: Place,
    pub kind: Kind,
    pub model: Box<str>,
    pub tokens_max: u32,
    /// The messages it answers; the last one is the newest.
    pub answering: Vec<MessageId>,
    pub addressed: bool,
    pub transcript: Transcript,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    pub call: CallId,
    pub at: Time,
    pub place: Place,
    pub post: Post,
    /// The message that gave the reason.
    pub answering: MessageId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Post {
    Reaction(Box<str>),
    /// The parts of an answer, each within the platform's limit.
    Text(Vec<Box<str>>),
    /// One short, friendly line, because an answer was asked for and could not be had.
    Excuse(Excuse),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Excuse {
    NoWords,
    BudgetSpent,
}

/// The three sizes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Reaction,
    Acknowledgement,
    Full,
}

/// What a call cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_chars: u64,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Millionths of a dollar.
    pub micros: u64,
}

/// A call that gave nothing, in words for a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure(pub Box<str>);
