//! What the shell needs of the outside world: a place to post to and a mind to ask. Small on purpose: an adapter is one
//! file behind one of these.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::effect::{Ask, Brief, Digesting, Failure, Lines, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::memory::{About, Change, ChannelMemory, Fact, Filter, ForgetRequest, Marks, Person, Query, Recalled};
use aizuchi_core::types::{CallId, ClockShift, MessageId, PersonId, Place, RoomId};
use aizuchi_core::{Policies, Policy};
use serde_json::Value;

use crate::language::Language;
use crate::meter::Meter;
use crate::stores::StoreError;

mod inbox;
mod marks;
mod platform_stores;
mod posts;
mod recent;
mod web_talk;

pub use inbox::{ArrivedThreads, Inbox, InboxEntry, Pending};
pub use marks::{ChannelMark, ChannelMarks, MarkChange};
pub use platform_stores::PlatformStores;
pub use posts::{PostKey, PostLedger, PostProgress};
pub use recent::RecentMessages;
pub use web_talk::{
    Speaker, WebBody, WebChange, WebDecision, WebFound, WebHistory, WebLook, WebMessage, WebRoom, WebSession,
    WebSessions, WebTalk, WebWrite,
};

/// Something that is under way. Dropping it cancels it.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where people talk. Its rooms are named `name:room`.
pub trait Platform: Send + Sync {
    /// The beginning of its rooms' names.
    fn name(&self) -> &'static str;

    /// Posts one part of an answer. Called again with the same key, it finds the post of the first time instead of
    /// posting twice.
    fn post<'a>(&'a self, posting: Posting<'a>) -> Doing<'a, Result<MessageId, PostError>>;

    /// Adds a reaction; adding it again changes nothing.
    fn react<'a>(&'a self, place: &'a Place, to: &'a MessageId, emoji: &'a str) -> Doing<'a, Result<(), PostError>>;

    /// Shows for a few seconds that it is writing.
    fn typing<'a>(&'a self, place: &'a Place) -> Doing<'a, ()>;

    /// Why it has stopped until a person helps; `None` while it is connected or tries to be.
    fn stopped(&self) -> Option<String> {
        None
    }

    /// How far our clock is ahead of the one that dates its messages.
    fn clock_ahead(&self) -> ClockShift {
        ClockShift(0)
    }

    /// Lets go of what it keeps of a person itself: names, words, what was not heard yet, and answers to them.
    fn forget<'a>(&'a self, _request: &'a Arc<ForgetRequest>) -> Doing<'a, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Posting<'a> {
    /// The same for ever for this part of this answer.
    pub key: &'a str,
    pub place: &'a Place,
    pub text: &'a str,
    /// The message it answers, on the first part.
    pub answering: Option<&'a MessageId>,
    /// Whether further parts of the answer follow.
    pub more: bool,
}

/// What a platform says when a post does not go out: all its caller can act on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    #[error("{what}")]
    TryLater { after: Option<Duration>, what: String },
    #[error("{what}")]
    GiveUp { what: String },
}

/// Slash commands, the same on every platform. Answers are for the caller alone.
pub trait Commands: Send + Sync {
    /// `text` is the command without its slash: `mute 2h`, `why`, `channel off`. The answer is in the caller's language.
    fn run<'a>(&'a self, text: &'a str, caller: &'a Caller, place: &'a Place) -> Doing<'a, String>;
}

/// Who runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub person: PersonId,
    /// Whether this person may change settings here.
    pub manages: bool,
    pub language: Language,
}

/// Who judges and writes. Both end with exactly one result; dropped, the call is cancelled for real.
pub trait Mind: Send + Sync {
    fn judge(self: Arc<Self>, ask: Box<Ask>, policies: Arc<Policies>) -> Doing<'static, Result<Answer, Failure>>;
    fn write(self: Arc<Self>, brief: Box<Brief>, policies: Arc<Policies>) -> Doing<'static, Result<Answer, Failure>>;
    /// Sums talk up, or thinks it over.
    fn digest(self: Arc<Self>, _: Box<Digest>, _: Arc<Policies>) -> Doing<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::unpaid("it keeps nothing for long")) })
    }
}

/// Talk to be taken into long memory, for whoever reads it.
#[derive(Clone, Debug)]
pub struct Digest {
    pub call: CallId,
    pub what: Digesting,
    pub model: Box<str>,
    pub tokens_max: u32,
    /// Numbered from 1 in this order.
    pub lines: Lines,
    /// What the channel was about so far.
    pub summary: Option<ChannelMemory>,
    /// What is known already and may be replaced.
    pub known: Vec<Fact>,
}

/// Puts a question or the order for an answer into words for a model. `Err` says what is wrong with them.
pub trait Wording: Send + Sync {
    fn judge(&self, ask: &Ask, policy: &Policy) -> Result<Prompt, String>;
    fn write(&self, brief: &Brief, policy: &Policy) -> Result<Prompt, String>;
    fn digest(&self, digest: &Digest, policy: &Policy) -> Result<Prompt, String>;
}

/// One provider of models. It asks once and tells what came of it; trying again is somebody else's business.
pub trait Provider: Send + Sync {
    fn answer<'a>(&'a self, request: &'a Request) -> Doing<'a, Result<Reply, ModelError>>;
}

/// What a model is shown and in which form it should answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Without its provider: `claude-haiku-4-5`.
    pub model: String,
    pub prompt: Prompt,
    pub tokens_max: u32,
    /// Tokens a model that thinks may use beside that.
    pub thinking_tokens: u32,
    pub thinking: Thinking,
}

/// How much a model should think before it answers, where it can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Not at all, or as little as it can: for a yes or no.
    Least,
    /// Within the tokens it is given.
    Some,
}

/// Instructions and data, apart from each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Ours: the same from call to call, so that a provider can keep it at hand.
    pub system: String,
    /// The talk, framed; what it holds is never an instruction.
    pub turns: Vec<Turn>,
    /// Where the answer is to be JSON.
    pub schema: Option<Schema>,
}

impl Prompt {
    pub fn bytes(&self) -> usize {
        self.system.len() + self.turns.iter().map(|turn| turn.text.len()).sum::<usize>()
    }

    pub fn chars(&self) -> u64 {
        let turns = self.turns.iter().map(|turn| turn.text.chars().count());
        (self.system.chars().count() + turns.sum::<usize>()) as u64
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub by: By,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Framed talk, or a question of ours.
    User,
    /// Its own earlier contribution.
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub name: &'static str,
    pub schema: Value,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    pub text: String,
    /// As the provider counts them; none where it does not tell.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// Of those that went in, how many were at hand from an earlier call.
    pub tokens_cached: u64,
}

/// What a provider says when there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Busy or broken for the moment.
    #[error("{what}")]
    TryLater { after: Option<Duration>, what: String },
    /// The key, the model's name or the request is wrong: trying again changes nothing.
    #[error("{what}")]
    GiveUp { what: String },
}

/// What is remembered of rooms, people and facts. A store of memory is one file behind this.
pub trait Memory: Send + Sync {
    /// Makes the changes in their order, whole or not at all, and returns when they are durable as far as this store is. The
    /// settings of each room say how much is kept.
    fn apply<'a>(&'a self, changes: Vec<Change>, policies: &'a Policies) -> Doing<'a, Result<(), StoreError>>;

    /// What a channel is about, if that is known, and how far its records were read.
    fn channel<'a>(&'a self, room: &'a RoomId) -> Doing<'a, Result<(Option<ChannelMemory>, Marks), StoreError>>;

    /// Facts that fit, as far as the reader may know them.
    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> Doing<'a, Result<Vec<Recalled>, StoreError>>;

    /// Facts for whoever looks after them, the latest first, behind no wall.
    fn facts<'a>(&'a self, filter: Filter) -> Doing<'a, Result<Vec<Fact>, StoreError>>;

    /// Who is known, the latest seen first. One person if one is named.
    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> Doing<'a, Result<Vec<Person>, StoreError>>;

    /// Everything that is kept about a person.
    fn about<'a>(&'a self, person: &'a PersonId) -> Doing<'a, Result<About, StoreError>>;
}

/// Turns texts into vectors, so that what means the same lies close together.
pub trait Embedder: Send + Sync {
    /// Whose vectors these are: those of two models can not be compared.
    fn model(&self) -> &str;

    /// One vector for each text, of length 1. What it costs is counted by `meter`.
    fn embed<'a>(&'a self, texts: &'a [String], meter: &'a Meter) -> Doing<'a, Result<Vec<Vec<f32>>, ModelError>>;
}

/// A bill for what a call cost.
pub fn bill(prompt_chars: u64, tokens_in: u64, tokens_out: u64, price: aizuchi_core::settings::Price) -> Usage {
    Usage { calls: 1, prompt_chars, tokens_in, tokens_out, micros: price.micros(tokens_in, tokens_out) }
}
