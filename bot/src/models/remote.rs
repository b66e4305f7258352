//! A model somewhere else, asked over HTTP in the format its provider speaks.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use aizuchi_core::settings::WireFormat;
use aizuchi_core::usage::tokens_of_bytes;
use genai::adapter::AdapterKind;
use genai::chat::{CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatResponse, JsonSpec, StopReason};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use secrecy::ExposeSecret as _;

use super::errors::{explain, give_up, is_unpaid, refuses_the_form, try_later};
use super::providers::ModelAddress;
use super::thinking::{self, ThinkingPlan};
use crate::meter::Meter;
use crate::ports::{BoxFuture, ModelError, ModelProvider, ModelReply, ModelRequest, PromptTurn, Role};

pub struct Remote {
    pub client: Client,
    pub address: ModelAddress,
    pub plain: PlainModels,
    /// Counts every request that goes out.
    pub meter: Meter,
}

/// Models that have refused a schema or a word about thinking, and are asked plainly from then on.
#[derive(Clone, Debug, Default)]
pub struct PlainModels(Arc<Mutex<HashSet<String>>>);

impl PlainModels {
    fn name(address: &ModelAddress) -> String {
        format!("{} {}", address.url, address.model)
    }

    fn holds(&self, address: &ModelAddress) -> bool {
        self.0.lock().expect("nobody panics here").contains(&PlainModels::name(address))
    }

    fn add(&self, address: &ModelAddress) {
        self.0.lock().expect("nobody panics here").insert(PlainModels::name(address));
    }
}

/// Stands where a key would, for those who want none.
const NO_KEY: &str = "none";

impl ModelProvider for Remote {
    fn answer<'a>(&'a self, request: &'a ModelRequest) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        Box::pin(async move {
            let plan = thinking::plan(self.address.format, &request.model, request.thinking, request.thinking_tokens);
            let asks_for_more = request.prompt.schema.is_some() || plan.effort.is_some();
            if !asks_for_more || self.plain.holds(&self.address) {
                return self.settle(self.ask(request, &plan, false).await, request);
            }
            match self.ask(request, &plan, true).await {
                Err(error) if refuses_the_form(&error) => {
                    let answer = self.ask(request, &plan, false).await;
                    if answer.is_ok() {
                        tracing::info!(
                            provider = self.address.provider,
                            model = request.model,
                            "asking the model without optional parameters"
                        );
                        self.plain.add(&self.address);
                    }
                    self.settle(answer, request)
                }
                answer => self.settle(answer, request),
            }
        })
    }
}

impl Remote {
    async fn ask(&self, request: &ModelRequest, plan: &ThinkingPlan, in_form: bool) -> genai::Result<ChatResponse> {
        let turns = alternating(&request.prompt.turns).into_iter().map(|(by, text)| match by {
            Role::User => ChatMessage::user(text),
            Role::Assistant => ChatMessage::assistant(text),
        });
        let mut chat = ChatRequest::from_messages(turns.collect());
        if !request.prompt.system.is_empty() {
            chat = chat.with_system(request.prompt.system.as_str());
        }
        // Who is not told to think less needs the room.
        let room = if in_form || plan.effort.is_none() { plan.room } else { request.thinking_tokens };
        let tokens_max = request.tokens_max.saturating_add(room);
        let mut options = ChatOptions::default().with_max_tokens(tokens_max);
        if in_form {
            if let Some(schema) = &request.prompt.schema {
                options = options.with_response_format(JsonSpec::new(schema.name, schema.schema.clone()));
            }
            if let Some(effort) = &plan.effort {
                options = options.with_reasoning_effort(effort.clone());
            }
        }
        // The others keep the beginning of a prompt at hand without being asked.
        if self.address.format == WireFormat::Anthropic {
            options = options.with_cache_control(CacheControl::Ephemeral);
        }
        let attempt = self.meter.begin(tokens_of_bytes(request.prompt.bytes()), tokens_max.into());
        let answer = self.client.exec_chat(self.target(), chat, Some(&options)).await;
        match &answer {
            Ok(response) => {
                let (tokens_in, tokens_out, _) = tokens(response);
                let written = || tokens_of_bytes(response.content.texts().iter().map(|text| text.len()).sum());
                attempt.answered(tokens_in, tokens_out.unwrap_or_else(written));
            }
            Err(error) if is_unpaid(error) => attempt.refused(),
            Err(_) => drop(attempt),
        }
        answer
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

    fn settle(&self, answer: genai::Result<ChatResponse>, request: &ModelRequest) -> Result<ModelReply, ModelError> {
        let response = answer.map_err(|error| explain(&error, &self.address))?;
        let text = thinking::without_thoughts(&response.content.texts().concat());
        if text.is_empty() {
            return Err(self.silence(response.stop_reason.as_ref(), request));
        }
        let (tokens_in, tokens_out, tokens_cached) = tokens(&response);
        Ok(ModelReply { text, tokens_in, tokens_out, tokens_cached })
    }

    /// A model that has said nothing.
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

/// Tokens that went in, came out, and were at hand already, as far as the provider says.
fn tokens(response: &ChatResponse) -> (Option<u64>, Option<u64>, u64) {
    let usage = &response.usage;
    let count = |tokens: Option<i32>| tokens.and_then(|tokens| u64::try_from(tokens).ok());
    let thoughts = usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens);
    let cached = usage.prompt_tokens_details.as_ref().and_then(|details| details.cached_tokens);
    (count(usage.prompt_tokens), count(usage.completion_tokens.or(thoughts)), count(cached).unwrap_or(0))
}

/// Says nothing, where a provider wants something said.
const NOTHING_SAID: &str = "…";

/// The turns as every provider and every template takes them: none empty, by turns, the first and the last of the user.
fn alternating(turns: &[PromptTurn]) -> Vec<(Role, String)> {
    let mut all: Vec<(Role, String)> = Vec::new();
    for turn in turns.iter().filter(|turn| !turn.text.trim().is_empty()) {
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
