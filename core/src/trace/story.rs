//! The story of one decision, silence too. It is data; the sentence is made when somebody asks.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{Bar, Features, Response};
use crate::effect::Kind;
use crate::gates::{Closed, GATES};
use crate::join::{Contribution, Reason, Values, because, contributions, reasons};
use crate::judge::{Question, State};
use crate::listen::{Addressed, Unheard};
use crate::score::{Points, RULES};
use crate::strands::Models;
use crate::types::{ClockShift, Message, MessageId, PersonId, Place, Span, Time};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub message: MessageId,
    pub place: Place,
    pub at: Time,
    pub author_id: PersonId,
    pub author: Box<str>,
    /// The sum of the points, 0 to 100; none where rules do not count or were not reached.
    pub score: Option<u8>,
    pub points: Points,
    pub addressed: Option<Addressed>,
    /// How likely somebody who is not in the conversation joins it here, 0 to 1; none where nothing learnt is asked.
    pub p_join: Option<f32>,
    /// What that was made from.
    #[serde(default)]
    pub features: Features,
    /// How likely it had to be, where that was looked at.
    #[serde(default)]
    pub bar: Option<Bar>,
    /// The message this one seems to answer; its own where it starts a conversation.
    pub reply_to_guess: Option<MessageId>,
    pub asked: Vec<Asked>,
    pub outcome: Outcome,
    pub stage: Stage,
    pub gate: Option<Cow<'static, str>>,
    pub cause: Cause,
    pub acted_at: Option<Time>,
    /// The message under which it was answered, where that is another: one post answers both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_with: Option<MessageId>,
    /// What people made of it, once that is known.
    #[serde(default)]
    pub received: Option<Response>,
    /// Millionths of a dollar, judging and writing together.
    pub micros: u64,
}

/// One question and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub question: Question,
    pub at: Time,
    pub prompt_chars: u64,
    /// The model's words, or why there are none.
    pub answer: Box<str>,
    pub cached: bool,
    pub failed: bool,
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

impl From<Kind> for Outcome {
    fn from(kind: Kind) -> Outcome {
        match kind {
            Kind::Reaction => Outcome::Reacts,
            Kind::Acknowledgement => Outcome::Acknowledges,
            Kind::Full => Outcome::Replies,
        }
    }
}

/// How far a message came.
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
    /// Somebody addressed it to tell it to be quiet.
    ToldToBeQuiet(Span),
    /// It is not likely enough that somebody joins here.
    Unlikely,
    /// It is likely enough, and nobody has to be asked.
    Likely,
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
    /// It was addressed, had no answer, and said so.
    Excused {
        what: Box<str>,
    },
    /// Somebody spoke before it could.
    CancelledBy(MessageId),
    /// A later message of the same burst is the better reason.
    SupersededBy(MessageId),
    /// Part of a burst whose better reason is pending.
    PartOf(MessageId),
    AnsweredBy(MessageId),
    AnsweredInstead(MessageId),
    /// More addressed it at once than could be answered.
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
    /// The beginning of a story.
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
            p_join: None,
            features: Features::default(),
            bar: None,
            reply_to_guess: None,
            asked: Vec::new(),
            outcome: Outcome::Silent,
            stage: Stage::Filter,
            gate: None,
            cause: Cause::Undecided,
            acted_at: None,
            answered_with: None,
            received: None,
            micros: 0,
        }
    }

    /// The story of a message that was not heard at all.
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
    }

    /// How much speaks for joining here, to compare with another message.
    pub fn reason(&self) -> f32 {
        self.bar.map(|bar| bar.worth).unwrap_or_else(|| self.score.map_or(-1.0, |score| f32::from(score) / 100.0))
    }

    /// One readable sentence: what it did and why.
    pub fn sentence(&self) -> String {
        let mut text = String::from(match self.outcome {
            Outcome::Ignored => "Ignored: ",
            Outcome::Silent => "Stayed silent: ",
            Outcome::Reacts => "Reacted: ",
            Outcome::Acknowledges => "Said a word: ",
            Outcome::Replies => "Answered: ",
        });
        self.write_cause(&mut text).expect("a string takes every text");
        if let (Some(p_join), None) = (self.p_join, self.addressed) {
            self.write_likelihood(&mut text, p_join).expect("a string takes every text");
        } else if let Some(score) = self.score.filter(|_| self.addressed.is_none()) {
            write!(text, " Score {score}").expect("a string takes every text");
            let given: Vec<String> =
                self.given().map(|(rule, points)| format!("{} {points:+}", rule.replace('_', " "))).collect();
            text.push_str(&if given.is_empty() { ".".into() } else { format!(" ({}).", given.join(", ")) });
        }
        if let Some(other) = &self.answered_with {
            write!(text, " The post that answers {other} answers this too.").expect("a string takes every text");
        }
        if let Some(response) = self.received {
            write!(text, " It was {}.", response.words()).expect("a string takes every text");
        }
        text
    }

    /// What was learnt says of this message, and what it was compared with.
    fn write_likelihood(&self, text: &mut String, p_join: f32) -> std::fmt::Result {
        write!(text, " A newcomer would join here with {}", percent(p_join))?;
        if let Some(bar) = self.bar {
            write!(text, " (threshold {}", percent(bar.threshold))?;
            if bar.worth != p_join {
                write!(text, ", counted as {}", percent(bar.worth))?;
            }
            match bar.welcome {
                less if less < 0.995 => write!(text, ", raised because it was less welcome here lately")?,
                more if more > 1.005 => write!(text, ", lowered because it was welcome here lately")?,
                _ => (),
            }
            text.push(')');
        }
        let joins = self.bar.is_some_and(|bar| bar.worth >= bar.threshold);
        let reasons =
            self.features.0.as_deref().map(|values| because(values, joins, Models::built_in())).unwrap_or_default();
        if !reasons.is_empty() {
            write!(text, ": {}", reasons.join(", "))?;
        }
        write!(text, ".")
    }

    /// What each feature did to the likelihood, the strongest first; empty where nothing learnt is asked.
    pub fn contributions(&self) -> Vec<Contribution> {
        let told = |values: &Values| contributions(values, Models::built_in());
        self.features.0.as_deref().map(told).unwrap_or_default()
    }

    /// The same in words, what belongs together taken together.
    pub fn reasons(&self) -> Vec<Reason> {
        self.features.0.as_deref().map(|values| reasons(values, Models::built_in())).unwrap_or_default()
    }

    /// Without the judge's words: it may have said anything about what it read.
    pub fn forget_words(&mut self) {
        self.asked.iter_mut().for_each(|asked| asked.answer = "".into());
        if let Cause::SaidNo { reason } | Cause::SaidYes { reason, .. } = &mut self.cause {
            *reason = "".into();
        }
    }

    /// The rules that gave points, in their order.
    pub fn given(&self) -> impl Iterator<Item = (&'static str, i16)> {
        let called = self.addressed.map(|addressed| (addressed.id(), addressed.points()));
        let ruled = RULES.iter().zip(self.points.0).map(|(rule, points)| (rule.id, points));
        called.into_iter().chain(ruled).filter(|(_, points)| *points != 0)
    }

    fn write_cause(&self, text: &mut String) -> std::fmt::Result {
        match &self.cause {
            Cause::Unheard(Unheard::Itself) => write!(text, "its own message."),
            Cause::Unheard(Unheard::Empty) => write!(text, "an empty message."),
            Cause::Unheard(Unheard::Direct) => write!(text, "direct messages are switched off."),
            Cause::Unheard(Unheard::ChannelOff) => write!(text, "it does not listen in this channel."),
            Cause::Unheard(Unheard::OtherBot) => write!(text, "said by another bot."),
            Cause::Unheard(Unheard::BotNotAnswered) => write!(text, "said by another bot; heard, not answered."),
            Cause::Unheard(Unheard::Repeated) => write!(text, "this message was heard before."),
            Cause::Unheard(Unheard::Late) => write!(text, "it arrived late; remembered, not answered."),
            Cause::Unheard(Unheard::TooLate { late, limit, away: false }) => {
                write!(text, "it arrived {late} late, and {limit} are allowed; remembered, not answered.")
            }
            Cause::Unheard(Unheard::TooLate { late, limit, away: true }) => write!(
                text,
                "it was said {late} before it could be heard, and is answered within {limit}; remembered, not answered."
            ),
            Cause::Unheard(Unheard::Missed { late }) => {
                write!(text, "it was said {late} before it could be heard; remembered, not answered.")
            }
            Cause::Addressed(Addressed::Mention) => write!(text, "{} mentioned it.", self.author),
            Cause::Addressed(Addressed::Name) => write!(text, "{} called its name.", self.author),
            Cause::Addressed(Addressed::Reply) => write!(text, "{} replied to it.", self.author),
            Cause::ToldToBeQuiet(span) => write!(text, "{} told it to be quiet; muted for {span}.", self.author),
            Cause::Unlikely => write!(text, "too little reason to speak."),
            Cause::Likely => write!(text, "reason enough without asking."),
            Cause::Low { low } => write!(text, "too little reason to speak (at most {low})."),
            Cause::High { high } => write!(text, "reason enough without asking (at least {high})."),
            Cause::OverThreshold { threshold } => write!(text, "reason enough (at least {threshold})."),
            Cause::UnderThreshold { threshold } => write!(text, "too little reason to speak (below {threshold})."),
            Cause::Closed(closed) => match GATES.iter().find(|gate| Some(gate.id) == self.gate.as_deref()) {
                Some(gate) => write!(text, "{}.", closed.say(gate)),
                None => write!(text, "held back."),
            },
            Cause::Ending => write!(text, "the conversation is ending."),
            Cause::Unchanged => write!(text, "nothing has changed since it last spoke here."),
            Cause::SaidNo { reason } if reason.is_empty() => write!(text, "the judge said no."),
            Cause::SaidNo { reason } => write!(text, "the judge said no: {}", closed(reason)),
            Cause::SaidYes { reason, delay, state } => {
                write!(text, "the judge said yes")?;
                if let Some(state) = state.filter(|state| *state != State::Active) {
                    write!(text, " ({})", state.word().to_lowercase())?;
                }
                if *delay > Span::ZERO {
                    write!(text, ", and to wait {delay}")?;
                }
                if reason.is_empty() { write!(text, ".") } else { write!(text, ": {}", closed(reason)) }
            }
            Cause::Failed { what } if self.stage == Stage::Judge => {
                write!(text, "the judge gave no usable answer ({what}).")
            }
            Cause::Failed { what } => write!(text, "its words could not be written or posted ({what})."),
            Cause::Excused { what } => write!(text, "{} asked, and it had to excuse itself ({what}).", self.author),
            Cause::CancelledBy(by) => write!(text, "somebody spoke first (cancelled by {by})."),
            Cause::SupersededBy(by) => write!(text, "{by} gave a better reason a moment later."),
            Cause::PartOf(by) => write!(text, "part of the talk around {by}, which is the better reason."),
            Cause::AnsweredBy(by) => write!(text, "somebody answered ({by})."),
            Cause::AnsweredInstead(by) => write!(text, "it was addressed in {by} and answers that."),
            Cause::TooMany => write!(text, "too many addressed it at once; it told them so together."),
            Cause::Deleted => write!(text, "the message was deleted."),
            Cause::Forgotten => write!(text, "the talk of this room was to be forgotten."),
            Cause::Stale { overdue } => write!(text, "it was overdue by {overdue} when the program started."),
            Cause::NothingToSay => write!(text, "it found nothing to say."),
            Cause::Repeated => write!(text, "it would have said nearly the same again."),
            Cause::Undecided => write!(text, "not decided yet."),
        }
    }
}

/// As people say it: whole percents, and what is less than half of one as that.
fn percent(share: f32) -> String {
    if share < 0.005 { "less than 1 %".into() } else { format!("{:.0} %", 100.0 * share) }
}

/// A judge's words as a sentence that has an end.
fn closed(reason: &str) -> Cow<'_, str> {
    let reason = reason.trim_end();
    if reason.ends_with(['.', '!', '?', '。', '！', '？', '…']) {
        reason.into()
    } else {
        format!("{reason}.").into()
    }
}
