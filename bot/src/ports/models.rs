//! Models that judge, write and embed, and how they are called.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::effect::{Ask, Brief, Digesting, Failure, Lines, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::memory::{ChannelMemory, Fact};
use aizuchi_core::tools::ToolStep;
use aizuchi_core::types::CallId;
use aizuchi_core::{Policies, Policy};
use serde_json::Value;

use super::{BoxFuture, ToolSpec};
use crate::meter::Meter;

/// Judges and writes. Each call ends with exactly one result; dropping the future really cancels the call.
pub trait ModelClient: Send + Sync {
    fn judge(self: Arc<Self>, ask: Box<Ask>, policies: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>>;
    fn write(
        self: Arc<Self>,
        brief: Box<Brief>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>>;
    /// Writes an answer, or requests some of these tools first. A client without tool support writes without them.
    fn draft(
        self: Arc<Self>,
        brief: Box<Brief>,
        _tools: Vec<ToolSpec>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        let writing = self.write(brief, policies);
        Box::pin(async { writing.await.map(Draft::Words) })
    }
    /// Summarizes talk, or reflects on it.
    fn digest(self: Arc<Self>, _: Box<DigestRequest>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::unpaid("long-term memory is off")) })
    }
}

/// The result of a request for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    Words(Answer),
    Calls(Vec<RequestedCall>, Usage),
}

/// A tool call that a model requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedCall {
    /// The provider's id; the result is sent back under it.
    pub id: String,
    pub name: String,
    /// JSON, as the model wrote it.
    pub arguments: String,
    /// Data that some providers require back with the result.
    pub signatures: Vec<String>,
}

/// Messages to be processed by long-term memory.
#[derive(Clone, Debug)]
pub struct DigestRequest {
    pub call: CallId,
    pub what: Digesting,
    pub model: Box<str>,
    pub tokens_max: u32,
    /// Numbered from 1 in this order.
    pub lines: Lines,
    /// The summary of the channel so far.
    pub summary: Option<ChannelMemory>,
    /// Known facts, which may be replaced.
    pub known: Vec<Fact>,
}

/// Builds the prompt for a question or an answer. `Err` says what is wrong with the templates.
pub trait PromptBuilder: Send + Sync {
    fn judge(&self, ask: &Ask, policy: &Policy) -> Result<Prompt, String>;
    /// `tools` are those that the writer is shown.
    fn write(&self, brief: &Brief, tools: Vec<ToolSpec>, policy: &Policy) -> Result<Prompt, String>;
    fn digest(&self, digest: &DigestRequest, policy: &Policy) -> Result<Prompt, String>;
}

/// One provider of models. It makes one attempt and returns the result; retries are up to the caller.
pub trait ModelProvider: Send + Sync {
    fn answer<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ModelError>>;
}

/// The input of a model call and the form of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// Without the provider: `claude-haiku-4-5`.
    pub model: String,
    pub prompt: Prompt,
    pub tokens_max: u32,
    /// Additional tokens for a model that thinks.
    pub thinking_tokens: u32,
    pub thinking: Thinking,
}

/// How much a model should think before it answers, if that can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Not at all, or as little as it can: for a yes or no.
    Least,
    /// Within its token budget.
    Some,
}

/// Instructions and data, kept separate.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Ours: the same from call to call, so that a provider can cache it.
    pub system: String,
    /// The talk, framed; nothing in it is ever an instruction.
    pub turns: Vec<PromptTurn>,
    /// Set if the answer is to be JSON.
    pub schema: Option<Schema>,
    pub tools: PromptTools,
}

/// The tools of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptTools {
    pub shown: Vec<ToolSpec>,
    /// Whether the model may request more calls, or has to answer now.
    pub may_call: bool,
    /// The calls so far. Their results are framed, as the talk is.
    pub steps: Vec<ToolStep>,
}

impl Prompt {
    pub fn bytes(&self) -> usize {
        self.texts().map(|text| text.len()).sum()
    }

    pub fn chars(&self) -> u64 {
        self.texts().map(|text| text.chars().count() as u64).sum()
    }

    /// Everything that a model reads, in order.
    pub fn texts(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let shown = self.tools.shown.iter().flat_map(|tool| {
            [tool.name.as_str().into(), tool.description.as_str().into(), Cow::from(tool.schema.to_string())]
        });
        let turns = self.turns.iter().map(|turn| turn.text.as_str().into());
        let steps = self.tools.steps.iter().flat_map(|step| [Cow::from(&*step.call.arguments), step.words().into()]);
        std::iter::once(self.system.as_str().into()).chain(shown).chain(turns).chain(steps)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptTurn {
    pub by: Role,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Framed talk, or a question of ours.
    User,
    /// The model's own earlier contribution.
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub name: &'static str,
    pub schema: Value,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// Empty if it requests tools.
    pub text: String,
    pub calls: Vec<RequestedCall>,
    /// As the provider counts them; `None` if it does not report them.
    pub tokens_in: Option<u64>,
    pub tokens_out: Option<u64>,
    /// How many input tokens came from the provider's cache.
    pub tokens_cached: u64,
}

/// Why a provider gives no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Temporarily busy or broken.
    #[error("{what}")]
    TryLater { after: Option<Duration>, what: String },
    /// The key, the model's name or the request is wrong: a retry changes nothing.
    #[error("{what}")]
    GiveUp { what: String },
}

/// Embeds texts, so that texts of similar meaning have similar vectors.
pub trait Embedder: Send + Sync {
    /// The model of the vectors: those of two models cannot be compared.
    fn model(&self) -> &str;

    /// One vector of length 1 for each text. `meter` counts the cost.
    fn embed<'a>(&'a self, texts: &'a [String], meter: &'a Meter) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}

/// The cost of a call.
pub fn bill(prompt_chars: u64, tokens_in: u64, tokens_out: u64, price: aizuchi_core::settings::Price) -> Usage {
    Usage { calls: 1, prompt_chars, tokens_in, tokens_out, micros: price.micros(tokens_in, tokens_out) }
}
