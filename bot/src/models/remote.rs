//! A remote model, called over HTTP in its provider's format.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use aizuchi_core::settings::{CacheTokens, WireFormat};
use aizuchi_core::usage::tokens_of_bytes;
use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponse, JsonSpec, StopReason, ToolChoice,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use secrecy::ExposeSecret as _;

use super::calls::{read_leniently, requested_calls, shown_tool, steps, steps_in_words};
use super::errors::{ModelRefusal, explain, give_up, is_unpaid, try_later};
use super::providers::ModelAddress;
use super::thinking::{self, ThinkingPlan};
use crate::meter::{Meter, TokenCount};
use crate::ports::{BoxFuture, ModelError, ModelProvider, ModelReply, ModelRequest, PromptTurn, Role};

pub struct Remote {
    pub client: Client,
    pub address: ModelAddress,
    pub plain: PlainModels,
    /// Counts every request that is sent.
    pub meter: Meter,
}

/// Models that have rejected an extra that not every model supports; they are called without it from then on.
#[derive(Clone, Debug, Default)]
pub struct PlainModels(Arc<Mutex<HashSet<(Extra, String)>>>);

/// Request features that not every model supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extra {
    /// A schema, or a reasoning effort.
    Options,
    Tools,
}

impl PlainModels {
    fn key(extra: Extra, address: &ModelAddress) -> (Extra, String) {
        (extra, format!("{} {}", address.url, address.model))
    }

    fn refuses(&self, extra: Extra, address: &ModelAddress) -> bool {
        self.0.lock().expect("nobody panics here").contains(&PlainModels::key(extra, address))
    }

    /// Whether this was not known before.
    fn add(&self, extra: Extra, address: &ModelAddress) -> bool {
        self.0.lock().expect("nobody panics here").insert(PlainModels::key(extra, address))
    }
}

/// Which extras a request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RequestForm {
    options: bool,
    tools: bool,
}

impl RequestForm {
    /// The next simpler form after a rejection; `None` if that cannot help.
    fn plainer(self, first: RequestForm, refusal: ModelRefusal) -> Option<RequestForm> {
        match (self.options, self.tools, refusal) {
            (_, true, ModelRefusal::Tools) => Some(RequestForm { tools: false, ..self }),
            (true, _, ModelRefusal::Form | ModelRefusal::Length) => Some(RequestForm { options: false, ..self }),
            (false, true, ModelRefusal::Form) => Some(RequestForm { options: first.options, tools: false }),
            (true, false, ModelRefusal::Tools) => Some(RequestForm { options: false, ..self }),
            (false, true, ModelRefusal::Length) | (false, false, _) => None,
        }
    }
}

/// A placeholder for servers that need no key.
const NO_KEY: &str = "none";

impl ModelProvider for Remote {
    fn answer<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let plan = thinking::plan(self.address.format, &request.model, request.thinking, request.thinking_tokens);
            let takes = |extra| !self.plain.refuses(extra, &self.address);
            let asks_for_more = request.prompt.schema.is_some() || plan.effort.is_some();
            let first = RequestForm {
                options: asks_for_more && takes(Extra::Options),
                tools: !request.prompt.tools.shown.is_empty() && takes(Extra::Tools),
            };
            let (mut form, mut refused) = (first, None);
            loop {
                let answer = self.ask(request, &plan, form).await;
                let refusal = answer.as_ref().err().and_then(ModelRefusal::of);
                match refusal.and_then(|refusal| form.plainer(first, refusal)) {
                    Some(plainer) => {
                        refused = answer.err();
                        form = plainer;
                    }
                    None => {
                        if let (Ok(_), Some(refused)) = (&answer, refused) {
                            self.learn(first, form, &refused);
                        }
                        return self.settle(answer, request, form);
                    }
                }
            }
        })
    }
}

impl Remote {
    /// Remembers what a model has rejected, so that it is not sent again.
    fn learn(&self, first: RequestForm, taken: RequestForm, refused: &genai::Error) {
        let (provider, model) = (&self.address.provider, &self.address.model);
        if first.options && !taken.options && self.plain.add(Extra::Options, &self.address) {
            tracing::info!(provider, model, "asking the model without optional parameters");
        }
        if first.tools && !taken.tools && self.plain.add(Extra::Tools, &self.address) {
            let reason = explain(refused, &self.address);
            tracing::warn!(provider, model, %reason, "asking the model without tools");
        }
    }

    fn chat(&self, request: &ModelRequest, form: RequestForm) -> ChatRequest {
        let (prompt, format) = (&request.prompt, self.address.format);
        let tools = &prompt.tools;
        let told = steps_in_words(&tools.steps).filter(|_| !form.tools);
        let told = told.map(|text| PromptTurn { by: Role::User, text });
        let turns = prompt.turns.iter().chain(&told);
        let turns = alternating(turns).into_iter().map(|(by, text)| match by {
            Role::User => ChatMessage::user(text),
            Role::Assistant => ChatMessage::assistant(text),
        });
        // The other providers cache the beginning of a prompt automatically.
        let system = match format {
            _ if prompt.system.is_empty() => None,
            WireFormat::Anthropic => {
                Some(ChatMessage::system(prompt.system.as_str()).with_options(CacheControl::Ephemeral))
            }
            WireFormat::OpenAi | WireFormat::Google | WireFormat::Ollama => {
                Some(ChatMessage::system(prompt.system.as_str()))
            }
        };
        let steps = if form.tools { steps(tools, format) } else { Vec::new() };
        let chat = ChatRequest::from_messages(system.into_iter().chain(turns).chain(steps).collect());
        // Ollama has no way to show a tool that may not be called.
        match form.tools && (tools.may_call || format != WireFormat::Ollama) {
            true => chat.with_tools(tools.shown.iter().map(shown_tool)),
            false => chat,
        }
    }

    fn options(&self, request: &ModelRequest, plan: &ThinkingPlan, form: RequestForm, tokens_max: u32) -> ChatOptions {
        let mut options = ChatOptions::default().with_max_tokens(tokens_max);
        if form.options {
            if let Some(schema) = &request.prompt.schema {
                options = options.with_response_format(JsonSpec::new(schema.name, schema.schema.clone()));
            }
            if let Some(effort) = &plan.effort {
                options = options.with_reasoning_effort(effort.clone());
            }
        }
        if form.tools {
            options = options.with_capture_raw_body(true);
            if !request.prompt.tools.may_call {
                options = options.with_tool_choice(ToolChoice::None);
            }
        }
        options
    }

    async fn ask(&self, request: &ModelRequest, plan: &ThinkingPlan, form: RequestForm) -> genai::Result<ChatResponse> {
        // A model that is not asked to think less needs more tokens.
        let room = if form.options || plan.effort.is_none() { plan.room } else { request.thinking_tokens };
        let tokens_max = request.tokens_max.saturating_add(room);
        let options = self.options(request, plan, form, tokens_max);
        let attempt = self.meter.begin(tokens_of_bytes(request.prompt.bytes()), tokens_max.into());
        let answer = self.client.exec_chat(self.target(), self.chat(request, form), Some(&options)).await;
        let answer = self.understood(answer);
        match &answer {
            Ok(response) => {
                let (tokens_in, tokens_out) = tokens(response);
                let cache = cache_tokens(response, self.address.format);
                let tokens_out = tokens_out.unwrap_or_else(|| tokens_of_bytes(response.content.size()));
                attempt.answered(TokenCount { tokens_in, cache, tokens_out });
            }
            Err(error) if is_unpaid(error) => attempt.refused(),
            Err(_) => drop(attempt),
        }
        answer
    }

    /// The client library parses tool calls only in the form of OpenAI itself, which not every server follows.
    fn understood(&self, answer: genai::Result<ChatResponse>) -> genai::Result<ChatResponse> {
        match (answer, self.address.format) {
            (
                Err(genai::Error::ChatResponseGeneration { response_body, model_iden, request_payload, cause }),
                WireFormat::OpenAi | WireFormat::Ollama,
            ) => read_leniently(&response_body, &model_iden).ok_or(genai::Error::ChatResponseGeneration {
                response_body,
                model_iden,
                request_payload,
                cause,
            }),
            (answer, _) => answer,
        }
    }

    pub(super) fn target(&self) -> ServiceTarget {
        let adapter = match self.address.format {
            WireFormat::OpenAi => AdapterKind::OpenAI,
            WireFormat::Anthropic => AdapterKind::Anthropic,
            WireFormat::Google => AdapterKind::Gemini,
            WireFormat::Ollama => AdapterKind::Ollama,
        };
        let key = self.address.key.secret.as_ref().map_or(NO_KEY, |secret| secret.expose_secret());
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.address.url.as_str()),
            auth: AuthData::from_single(key),
            model: ModelIden::new(adapter, self.address.model.as_str()),
        }
    }

    fn settle(
        &self,
        answer: genai::Result<ChatResponse>,
        request: &ModelRequest,
        form: RequestForm,
    ) -> Result<ModelReply, ModelError> {
        let response = answer.map_err(|error| explain(&error, &self.address))?;
        let text = thinking::without_thoughts(&response.content.texts().concat());
        let (tokens_in, tokens_out) = tokens(&response);
        let tokens_cached = cache_tokens(&response, self.address.format).read;
        let (tools, format) = (&request.prompt.tools, self.address.format);
        let may_call = form.tools && tools.may_call;
        let calls = if may_call { requested_calls(&response, tools, format) } else { Vec::new() };
        if text.is_empty() && calls.is_empty() {
            return Err(match response.content.contains_tool_call() {
                true => try_later(format!("{} asked for tools where it has to answer", request.model)),
                false => self.silence(response.stop_reason.as_ref(), request),
            });
        }
        Ok(ModelReply { text, calls, tokens_in, tokens_out, tokens_cached })
    }

    /// The error for an empty answer.
    fn silence(&self, stopped: Option<&StopReason>, request: &ModelRequest) -> ModelError {
        let model = &request.model;
        match stopped {
            Some(StopReason::MaxTokens(_)) => give_up(format!(
                "{model} used up its tokens before it answered: raise models.thinking_tokens, or use a model that does not think"
            )),
            Some(StopReason::ContentFilter(_)) => give_up(format!("{model} declined to answer")),
            _ => try_later(format!("{model} returned an empty answer")),
        }
    }
}

/// Input and output tokens, if the provider reports them.
fn tokens(response: &ChatResponse) -> (Option<u64>, Option<u64>) {
    let usage = &response.usage;
    let thoughts = usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    (count(usage.prompt_tokens), count(usage.completion_tokens.or(thoughts)))
}

/// How many input tokens were read from the provider's cache, and how many were written to it.
fn cache_tokens(response: &ChatResponse, format: WireFormat) -> CacheTokens {
    let Some(details) = &response.usage.prompt_tokens_details else { return CacheTokens::default() };
    // Only Anthropic charges more for it.
    let written = details.cache_creation_tokens.filter(|_| format == WireFormat::Anthropic);
    CacheTokens { read: count(details.cached_tokens).unwrap_or(0), written: count(written).unwrap_or(0) }
}

fn count(tokens: Option<i32>) -> Option<u64> {
    tokens.and_then(|tokens| u64::try_from(tokens).ok())
}

/// A filler for providers that do not accept empty text.
const NOTHING_SAID: &str = "…";

/// The turns in a form that every provider and every template accepts: none empty, alternating, the first and the last from
/// the user.
fn alternating<'a>(turns: impl IntoIterator<Item = &'a PromptTurn>) -> Vec<(Role, String)> {
    let mut all: Vec<(Role, String)> = Vec::new();
    for turn in turns.into_iter().filter(|turn| !turn.text.trim().is_empty()) {
        match all.last_mut() {
            Some((by, text)) if *by == turn.by => {
                text.push_str("\n\n");
                text.push_str(&turn.text);
            }
            _ => all.push((turn.by, turn.text.clone())),
        }
    }
    let nothing = || (Role::User, NOTHING_SAID.to_owned());
    if all.first().is_none_or(|(by, _)| *by == Role::Assistant) {
        all.insert(0, nothing());
    }
    if all.last().is_some_and(|(by, _)| *by == Role::Assistant) {
        all.push(nothing());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_put_as_every_provider_takes_them() {
        use Role::{Assistant, User};
        let put = |turns: &[(Role, &str)]| -> Vec<(Role, String)> {
            let turns: Vec<PromptTurn> =
                turns.iter().map(|(by, text)| PromptTurn { by: *by, text: (*text).into() }).collect();
            alternating(&turns)
        };
        let is = |turns: &[(Role, &str)]| -> Vec<(Role, String)> {
            turns.iter().map(|(by, t)| (*by, (*t).into())).collect()
        };
        assert_eq!(
            put(&[(User, "a"), (Assistant, "b"), (User, "c")]),
            is(&[(User, "a"), (Assistant, "b"), (User, "c")])
        );
        assert_eq!(put(&[(User, "a"), (Assistant, " "), (User, "c")]), is(&[(User, "a\n\nc")]));
        assert_eq!(put(&[(Assistant, "b")]), is(&[(User, "…"), (Assistant, "b"), (User, "…")]));
        assert_eq!(put(&[]), is(&[(User, "…")]));
    }
}
