//! Everything the engine can request.

use serde::{Deserialize, Serialize};

use crate::memory::{FactId, Memories};
use crate::reminders::ReminderPost;
use crate::settings::JudgeStyle;
use crate::tools::{ToolOffer, ToolOrder, ToolStep};
pub use crate::trace::{Cause, ChunkProgress, Outcome, QuestionTrace, RestStopped, Stage, Trace};
pub use crate::transcript::WhyAsked;
pub use crate::transcript::{Lines, Transcript, TranscriptLine};
use crate::types::{CallId, MessageId, Place, Question, RoomId, Time};
pub use crate::types::{Kind, Response};
pub use crate::usage::{Failure, Usage};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Effect {
    /// Ask a model; answered by `Input::Judged`.
    Ask(Box<Ask>),
    /// Write an answer; answered by `Input::Written`.
    Write(Box<Brief>),
    /// Post; answered by `Input::Delivered`. Nothing else is ever posted.
    Deliver(Box<Delivery>),
    /// Show a typing indicator for some seconds. Nothing answers it.
    Type(Box<Typing>),
    /// Delete posts, if the platform supports it. Nothing answers it: a deleted post arrives like any deletion.
    Withdraw(Box<Withdrawal>),
    /// Look for a fact to mention; answered by `Input::Recalled`.
    Recall(Box<Recall>),
    /// Summarize the talk, or reflect on it, and store the result; answered by `Input::Remembered`.
    Remember(Box<Remember>),
    /// Run a tool that the writer of an answer requested; answered by `Input::ToolResult`.
    RunTool(Box<ToolOrder>),
    /// The result of this call is no longer wanted.
    Abort(CallId),
    /// A decision is final.
    Trace(Box<Trace>),
    /// People's response to a contribution is known: the same decision, with the response.
    Received(Box<Trace>),
    /// More of an answer is posted, or nothing more follows: the same decision, with the progress.
    Updated(Box<Trace>),
}

impl Effect {
    /// The room it is about.
    pub fn room(&self) -> &RoomId {
        match self {
            Effect::Ask(ask) => &ask.call.room,
            Effect::Write(brief) => &brief.call.room,
            Effect::Deliver(delivery) => &delivery.call.room,
            Effect::Type(typing) => &typing.place.room,
            Effect::Withdraw(withdrawal) => &withdrawal.place.room,
            Effect::Recall(recall) => &recall.call.room,
            Effect::Remember(remember) => &remember.call.room,
            Effect::RunTool(order) => &order.call.room,
            Effect::Abort(call) => &call.room,
            Effect::Trace(trace) | Effect::Received(trace) | Effect::Updated(trace) => &trace.place.room,
        }
    }

    /// What it says of a decision. `Err` returns an effect that wants something done.
    pub fn into_report(self) -> Result<DecisionReport, Effect> {
        match self {
            Effect::Trace(trace) => Ok(DecisionReport::Final(trace)),
            Effect::Received(trace) => Ok(DecisionReport::Received(trace)),
            Effect::Updated(trace) => Ok(DecisionReport::Updated(trace)),
            other @ (Effect::Ask(_)
            | Effect::Write(_)
            | Effect::Deliver(_)
            | Effect::Type(_)
            | Effect::Withdraw(_)
            | Effect::Recall(_)
            | Effect::Remember(_)
            | Effect::RunTool(_)
            | Effect::Abort(_)) => Err(other),
        }
    }

    /// The model call that it requests.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Effect::Ask(ask) => Some(&ask.call),
            Effect::Write(brief) => Some(&brief.call),
            Effect::Recall(recall) => Some(&recall.call),
            Effect::Remember(remember) => Some(&remember.call),
            Effect::Deliver(_)
            | Effect::Type(_)
            | Effect::Withdraw(_)
            | Effect::RunTool(_)
            | Effect::Abort(_)
            | Effect::Trace(_)
            | Effect::Received(_)
            | Effect::Updated(_) => None,
        }
    }
}

/// News of a decision: to be recorded and shown, nothing is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionReport {
    /// It is final.
    Final(Box<Trace>),
    /// People's response to it is known.
    Received(Box<Trace>),
    /// More of its answer is posted, or nothing more follows.
    Updated(Box<Trace>),
}

impl DecisionReport {
    pub fn into_trace(self) -> Trace {
        let (DecisionReport::Final(trace) | DecisionReport::Received(trace) | DecisionReport::Updated(trace)) = self;
        *trace
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub call: CallId,
    pub at: Time,
    pub question: Question,
    /// The form of the answer.
    pub style: JudgeStyle,
    pub model: Box<str>,
    pub tokens_max: u32,
    pub transcript: Transcript,
    /// The fact it would mention, if that is the reason to ask.
    pub telling: Option<FactId>,
    pub memories: Memories,
}

/// The request for an answer.
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
    /// Filled in by the shell if it has a long-term memory, just before the answer is written.
    pub memories: Memories,
    /// The fact that the bot is to mention on its own initiative.
    pub telling: Option<FactId>,
    /// Which tools its writer may request instead of answering.
    #[serde(default)]
    pub tools: ToolOffer,
    /// The calls so far, and their results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<ToolStep>,
    /// The task of a schedule of the settings, instead of somebody's message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errand: Option<Box<str>>,
}

/// The request to look for a fact worth mentioning after this message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recall {
    pub call: CallId,
    pub at: Time,
    pub place: Place,
    pub message: MessageId,
}

/// The request to process talk for long-term memory: everything said in the room since the last time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remember {
    pub call: CallId,
    pub at: Time,
    pub what: Digesting,
    pub model: Box<str>,
    pub tokens_max: u32,
    /// The number of new messages, as the engine counted them.
    pub new: u32,
    /// How many model calls it may take.
    pub calls_max: u32,
}

/// What is derived from talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Digesting {
    /// What the channel is about.
    Summary,
    /// What is worth knowing later.
    Reflection,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    pub call: CallId,
    pub at: Time,
    pub place: Place,
    pub post: Post,
    /// The message that gave the reason.
    pub answering: MessageId,
    /// The message it is shown as a reply to, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quotes: Option<MessageId>,
    /// The fact it mentions on the bot's own initiative.
    #[serde(default)]
    pub telling: Option<FactId>,
    /// Whether it continues an answer of which people see the beginning: then it is shown as a reply to nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
}

impl Delivery {
    /// The message it is shown as a reply to, or continues to reply to.
    pub fn reply_to(&self) -> &MessageId {
        self.quotes.as_ref().unwrap_or(&self.answering)
    }
}

/// Where the bot is writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Typing {
    pub at: Time,
    pub place: Place,
}

/// Posts of the bot whose reason is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withdrawal {
    pub at: Time,
    pub place: Place,
    pub posts: Vec<MessageId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Post {
    Reaction(Box<str>),
    /// The parts of an answer, each within the platform's limit. Earlier versions sent an answer in several posts as one delivery.
    #[serde(alias = "Chunks")]
    Text(Vec<Box<str>>),
    /// One short, friendly line, because an answer was asked for and is not available.
    Excuse(Excuse),
    /// Asks people whether a tool may run.
    Approval(ApprovalRequest),
    Reminder(ReminderPost),
}

/// A tool that runs only if a person agrees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    pub tool: Box<str>,
    /// JSON, as the model wrote it.
    pub arguments: Box<str>,
    pub minutes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Excuse {
    NoWords,
    BudgetSpent,
    /// More people called at once than could be answered.
    TooMany,
}
