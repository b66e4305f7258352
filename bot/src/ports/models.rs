//! Who judges, writes and understands: models, and how they are asked.

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

/// Who judges and writes. Both end with exactly one result; dropped, the call is cancelled for real.
pub trait ModelClient: Send + Sync {
    fn judge(self: Arc<Self>, ask: Box<Ask>, policies: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>>;
    fn write(
        self: Arc<Self>,
        brief: Box<Brief>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>>;
    /// Writes an answer, or asks for some of these tools first. Who cannot use tools writes without them.
    fn draft(
        self: Arc<Self>,
        brief: Box<Brief>,
        _tools: Vec<ToolSpec>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        let writing = self.write(brief, policies);
        Box::pin(async { writing.await.map(Draft::Words) })
    }
    /// Sums talk up, or thinks it over.
    fn digest(self: Arc<Self>, _: Box<DigestRequest>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::unpaid("long-term memory is off")) })
    }
}

/// What came of the order for an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Draft {
    Words(Answer),
    Calls(Vec<RequestedCall>, Usage),
}

/// A tool that a model wants used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedCall {
    /// The provider's; the result goes back under it.
    pub id: String,
    pub name: String,
    /// JSON, as the model wrote it.
    pub arguments: String,
    /// What some providers want to see again with the result.
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
    /// What the channel was about so far.
    pub summary: Option<ChannelMemory>,
    /// What is known already and may be replaced.
    pub known: Vec<Fact>,
}

/// Puts a question or the order for an answer into words for a model. `Err` says what is wrong with them.
pub trait PromptBuilder: Send + Sync {
    fn judge(&self, ask: &Ask, policy: &Policy) -> Result<Prompt, String>;
    /// `tools` are those that the writer is shown.
    fn write(&self, brief: &Brief, tools: Vec<ToolSpec>, policy: &Policy) -> Result<Prompt, String>;
    fn digest(&self, digest: &DigestRequest, policy: &Policy) -> Result<Prompt, String>;
}

/// One provider of models. It asks once and tells what came of it; trying again is somebody else's business.
pub trait ModelProvider: Send + Sync {
    fn answer<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ModelError>>;
}

/// What a model is shown and in which form it should answer.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
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
    pub turns: Vec<PromptTurn>,
    /// Where the answer is to be JSON.
    pub schema: Option<Schema>,
    pub tools: PromptTools,
}

/// The tools of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptTools {
    pub shown: Vec<ToolSpec>,
    /// Whether the model may ask for more of them, or has to answer now.
    pub may_call: bool,
    /// What it asked for so far. What came of it is framed, as the talk is.
    pub steps: Vec<ToolStep>,
}

impl Prompt {
    pub fn bytes(&self) -> usize {
        self.texts().map(|text| text.len()).sum()
    }

    pub fn chars(&self) -> u64 {
        self.texts().map(|text| text.chars().count() as u64).sum()
    }

    /// Everything that a model reads, in the order in which it reads it.
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
    /// Its own earlier contribution.
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    pub name: &'static str,
    pub schema: Value,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelReply {
    /// Empty where it asks for tools.
    pub text: String,
    pub calls: Vec<RequestedCall>,
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

/// Turns texts into vectors, so that what means the same is close together.
pub trait Embedder: Send + Sync {
    /// Whose vectors these are: those of two models cannot be compared.
    fn model(&self) -> &str;

    /// One vector for each text, of length 1. What it costs is counted by `meter`.
    fn embed<'a>(&'a self, texts: &'a [String], meter: &'a Meter) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>>;
}

/// A bill for what a call cost.
pub fn bill(prompt_chars: u64, tokens_in: u64, tokens_out: u64, price: aizuchi_core::settings::Price) -> Usage {
    Usage { calls: 1, prompt_chars, tokens_in, tokens_out, micros: price.micros(tokens_in, tokens_out) }
}
