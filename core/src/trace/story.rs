//! The record of one decision, including silence. It is data; a shell turns it into a sentence when somebody asks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Bar, ChunkProgress, Closed, Features, Parts, Unheard};
use crate::settings::{Points, RULE_IDS};
use crate::tools::{ToolAccess, ToolCall, ToolOutcome, ToolStep};
use crate::types::{
    Addressed, ClockShift, ConversationId, HeardAs, Kind, Message, MessageId, PersonId, Place, Question, Response,
    Span, State, Time,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub message: MessageId,
    pub place: Place,
    pub at: Time,
    pub author_id: PersonId,
    pub author: Box<str>,
    /// The sum of the points, 0 to 100; `None` if rules do not count or were not reached.
    pub score: Option<u8>,
    pub points: Points,
    pub addressed: Option<Addressed>,
    /// How words about the bot were understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_as: Option<HeardAs>,
    /// How likely somebody who is not in the conversation joins it here, 0 to 1; `None` if no learnt model is used.
    pub p_join: Option<f32>,
    /// The features of that likelihood.
    #[serde(default)]
    pub features: Features,
    /// The effect of each of them, if a model other than the built-in one was used.
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    pub parts: Parts,
    /// How likely it is the bot's turn: it takes part in this conversation and is the next to speak. `None` if it takes no
    /// part.
    #[serde(default)]
    pub p_turn: Option<f32>,
    /// Taken up because it probably is the bot's turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub its_turn: bool,
    /// The conversation it was assigned to, counted within its place.
    #[serde(default)]
    pub conversation: Option<ConversationId>,
    /// How likely it had to be, if that was checked.
    #[serde(default)]
    pub bar: Option<Bar>,
    /// The message this one seems to answer; its own id if it starts a conversation.
    pub reply_to_guess: Option<MessageId>,
    pub asked: Vec<QuestionTrace>,
    /// The tools that its writer used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolTrace>,
    pub outcome: Outcome,
    pub stage: Stage,
    pub gate: Option<Cow<'static, str>>,
    pub cause: Cause,
    pub acted_at: Option<Time>,
    /// The message under which it was answered, if that is another: one post answers both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_with: Option<MessageId>,
    /// The progress of its answer, if that is more than one post.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<ChunkProgress>,
    /// People's response, once it is known.
    #[serde(default)]
    pub received: Option<Response>,
    /// Millionths of a dollar, judging and writing together.
    pub micros: u64,
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QuestionTrace {
    pub question: Question,
    pub at: Time,
    pub prompt_chars: u64,
    /// The model's words, or why there are none.
    pub answer: Box<str>,
    pub cached: bool,
    pub failed: bool,
}

/// One call of a tool, shortened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolTrace {
    pub name: Box<str>,
    pub arguments: Box<str>,
    /// "returned", "failed", "denied" or "interrupted".
    pub ended: Cow<'static, str>,
    /// Its output, or why it did not run.
    pub result: Box<str>,
    pub took: Span,
    /// Who agreed to it or refused it, if somebody was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<PersonId>,
}

impl ToolTrace {
    pub(crate) fn of(step: &ToolStep) -> ToolTrace {
        let ended = match &step.outcome {
            Some(ToolOutcome::Returned(_)) => "returned",
            Some(ToolOutcome::Failed(_)) => "failed",
            Some(ToolOutcome::Denied(_)) => "denied",
            Some(ToolOutcome::Interrupted) | None => "interrupted",
        };
        // A name that no tool has is the model's own words, and is deleted with them.
        let ToolCall { name, arguments, access, .. } = &step.call;
        let (name, arguments) = match access {
            ToolAccess::Invalid => ("?".into(), shortened(&format!("{name} {arguments}"))),
            ToolAccess::Reads | ToolAccess::Writes => (name.clone(), shortened(arguments)),
        };
        ToolTrace {
            name,
            arguments,
            ended: ended.into(),
            result: shortened(step.words()),
            took: step.took,
            decided_by: step.decided_by.clone(),
        }
    }
}

const SHORT_CHARS: usize = 200;

fn shortened(text: &str) -> Box<str> {
    match text.char_indices().nth(SHORT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Ignored,
    Silent,
    Reacts,
    Acknowledges,
    Replies,
}

impl Outcome {
    /// As it is stored.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ignored => "ignored",
            Outcome::Silent => "silent",
            Outcome::Reacts => "reacts",
            Outcome::Acknowledges => "acknowledges",
            Outcome::Replies => "replies",
        }
    }
}

impl From<Kind> for Outcome {
    fn from(kind: Kind) -> Outcome {
        match kind {
            Kind::Reaction => Outcome::Reacts,
            Kind::Acknowledgement => Outcome::Acknowledges,
            Kind::Full => Outcome::Replies,
        }
    }
}

/// How far a message got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Filter,
    Address,
    Score,
    Gate,
    Judge,
    Hold,
    Post,
}

/// What decided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cause {
    Unheard(Unheard),
    Addressed(Addressed),
    /// A schedule of the settings was due.
    Scheduled,
    /// Somebody told the bot to be quiet, for this long.
    ToldToBeQuiet(Span),
    /// Somebody told the bot to be quiet until it is allowed to talk again.
    ToldToBeQuietUntilLifted,
    /// It is not likely enough that somebody joins here.
    Unlikely,
    /// It is likely enough, and no judge has to be asked.
    Likely,
    /// Somebody thanked the bot, which gets a reaction.
    Thanked,
    Low {
        low: u32,
    },
    High {
        high: u32,
    },
    OverThreshold {
        threshold: u32,
    },
    UnderThreshold {
        threshold: u32,
    },
    Closed(Closed),
    Ending,
    Unchanged,
    SaidNo {
        reason: Box<str>,
    },
    SaidYes {
        reason: Box<str>,
        delay: Span,
        state: Option<State>,
    },
    Failed {
        what: Box<str>,
    },
    /// The bot was addressed, had no answer, and said so.
    Excused {
        what: Box<str>,
    },
    /// Somebody spoke before the bot could.
    CancelledBy(MessageId),
    /// A later message of the same burst is the better reason.
    SupersededBy(MessageId),
    /// Part of a burst whose better reason is pending.
    PartOf(MessageId),
    AnsweredBy(MessageId),
    AnsweredInstead(MessageId),
    /// More people addressed the bot at once than could be answered.
    TooMany,
    Deleted,
    Forgotten,
    Stale {
        overdue: Span,
    },
    NothingToSay,
    /// Its words were nearly those of one of its recent posts.
    Repeated,
    Undecided,
}

impl Trace {
    /// A new record.
    pub(crate) fn undecided(message: &Message, author: Box<str>) -> Trace {
        Trace {
            message: message.id.clone(),
            place: message.place.clone(),
            at: message.at,
            author_id: message.author.id.clone(),
            author,
            score: None,
            points: Points::default(),
            addressed: None,
            heard_as: None,
            p_join: None,
            features: Features::default(),
            parts: Parts::default(),
            p_turn: None,
            its_turn: false,
            conversation: None,
            bar: None,
            reply_to_guess: None,
            asked: Vec::new(),
            tools: Vec::new(),
            outcome: Outcome::Silent,
            stage: Stage::Filter,
            gate: None,
            cause: Cause::Undecided,
            acted_at: None,
            answered_with: None,
            chunks: None,
            received: None,
            micros: 0,
        }
    }

    /// The record of a message that was not received at all.
    pub fn passed_over(message: &Message, unheard: Unheard) -> Trace {
        let mut trace = Trace::undecided(message, message.author.name.clone());
        trace.pass_over(unheard);
        trace
    }

    pub(crate) fn pass_over(&mut self, unheard: Unheard) {
        (self.outcome, self.stage, self.cause) = (Outcome::Ignored, Stage::Filter, Cause::Unheard(unheard));
    }

    pub fn set_clock(&mut self, by: ClockShift) {
        self.at = self.at.shifted(by);
        self.acted_at = self.acted_at.map(|at| at.shifted(by));
        self.asked.iter_mut().for_each(|asked| asked.at = asked.at.shifted(by));
        if let Some(chunks) = &mut self.chunks {
            chunks.set_clock(by);
        }
    }

    /// How strong the reason for joining is, for comparison with another message.
    pub fn reason(&self) -> f32 {
        let its_turn = self.p_turn.filter(|_| self.its_turn);
        its_turn
            .or(self.bar.map(|bar| bar.worth))
            .unwrap_or_else(|| self.score.map_or(-1.0, |score| f32::from(score) / 100.0))
    }

    /// Removes the judge's words, the input and output of tools and who agreed to them: they may say anything about what
    /// was read.
    pub fn forget_words(&mut self) {
        self.asked.iter_mut().for_each(|asked| asked.answer = "".into());
        self.forget_tool_words();
        self.tools.iter_mut().for_each(|tool| tool.decided_by = None);
        if let Cause::SaidNo { reason } | Cause::SaidYes { reason, .. } = &mut self.cause {
            *reason = "".into();
        }
    }

    /// Removes the input and output of tools. Returns whether there was any.
    pub fn forget_tool_words(&mut self) -> bool {
        let has_words = self.tools.iter().any(|tool| !(tool.arguments.is_empty() && tool.result.is_empty()));
        self.tools.iter_mut().for_each(|tool| (tool.arguments, tool.result) = ("".into(), "".into()));
        has_words
    }

    /// The rules that gave points, in order.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, i16)> {
        let called = self.addressed.map(|addressed| (addressed.id(), addressed.points()));
        let ruled = RULE_IDS.iter().copied().zip(self.points.0);
        called.into_iter().chain(ruled).filter(|(_, points)| *points != 0)
    }
}
