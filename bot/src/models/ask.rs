//! One model call from question to bill: prompt, queue, attempts, answer.
//!
//! [`Models`] implements [`ModelClient`]. Each kind of call (judge, write, digest) makes its prompt and describes itself as a [`ModelCall`];
//! the offline model answers right there. `draft_with` measures, logs and bills; `ask` finds the address of the model and does the
//! attempts: for each, a permit of the queue (people who addressed the bot go first), a timeout, one HTTP request. Pauses
//! between attempts hold no permit.
//!
//! Every attempt that was answered is billed, also if the answer was of no use: a [`Failure`] has its usage. Keys and URLs are read
//! from the environment when the settings are checked (`check`), so that a mistake is reported at the start.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

use aizuchi_core::effect::{Ask, Brief, Digesting, Failure, Transcript, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::types::stable_hash;
use aizuchi_core::{Policies, Policy};
use metrics::{counter, histogram};

use super::offline;
use super::providers::{ModelAddress, OFFLINE, Variables, find};
use super::queue::{CallQueue, QueueLimits, Urgency};
use super::remote::{PlainModels, Remote};
use super::retry::{RetryLimits, in_time, with_retries};
use crate::meter::Meter;
use crate::ports::{
    BoxFuture, DigestRequest, Draft, ModelClient, ModelError, ModelProvider as _, ModelReply, ModelRequest, Prompt,
    PromptBuilder, PromptTools, PromptTurn, Role, Thinking, ToolSpec,
};
use crate::tls;

/// Judges and writes with the models of the settings.
pub struct Models {
    prompts: Arc<dyn PromptBuilder>,
    variables: RwLock<Variables>,
    client: LazyClient,
    plain: PlainModels,
    queue: CallQueue,
}

/// Created on first use, since that may fail without a network.
#[derive(Default)]
struct LazyClient(OnceLock<Result<genai::Client, String>>);

impl LazyClient {
    fn client(&self) -> Result<genai::Client, String> {
        self.0.get_or_init(tls::model_client).clone()
    }
}

const NO_TOOLS: &str = "the model asked for tools where there are none";

/// The model and request of a call, whatever the question is.
struct ModelCall<'a> {
    /// The id of the call, for its pauses and its log lines.
    id: String,
    model: &'a str,
    /// A question, or `write`.
    question: &'static str,
    tokens_max: u32,
    thinking: Thinking,
    urgency: Urgency,
}

impl Models {
    /// Checks the name and the key of every model in the settings, so that a mistake is reported at the start.
    pub fn new(
        prompts: Arc<dyn PromptBuilder>,
        policies: &Policies,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Models> {
        let variables = RwLock::new(check(policies, environment)?);
        Ok(Models {
            prompts,
            variables,
            client: LazyClient::default(),
            plain: PlainModels::default(),
            queue: CallQueue::default(),
        })
    }

    /// The same for new settings. If they cannot be used, nothing changes.
    pub fn expect(&self, policies: &Policies, environment: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<()> {
        let variables = check(policies, environment)?;
        *self.variables.write().unwrap_or_else(PoisonError::into_inner) = variables;
        Ok(())
    }

    fn address(&self, model: &str, policy: &Policy) -> Result<Option<ModelAddress>, String> {
        address_of(model, policy, &self.variables.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn call(&self, call: ModelCall<'_>, prompt: Prompt, policy: &Policy) -> Result<Answer, Failure> {
        match self.draft_with(call, prompt, policy).await? {
            Draft::Words(answer) => Ok(answer),
            Draft::Calls(_, usage) => Err(Failure { what: NO_TOOLS.into(), usage: Some(usage) }),
        }
    }

    async fn draft_with(&self, call: ModelCall<'_>, prompt: Prompt, policy: &Policy) -> Result<Draft, Failure> {
        let mut counted = CallTimer::begin(&call);
        let prompt_chars = prompt.chars();
        let meter = Meter::at(policy.price(call.model));
        let result = self.ask(&call, prompt, policy, &meter).await;
        let ms = counted.begun.elapsed().as_millis() as u64;
        counted.ends(&result);
        let usage = Usage { prompt_chars, ..meter.usage() };
        let Usage { tokens_in, tokens_out, .. } = usage;
        let cached = result.as_ref().map_or(0, |reply| reply.tokens_cached);
        for (direction, tokens) in [("in", tokens_in), ("out", tokens_out), ("cached", cached)] {
            counter!("aizuchi_model_tokens_total", "model" => call.model.to_owned(), "direction" => direction)
                .increment(tokens);
        }
        counter!("aizuchi_model_micros_total", "model" => call.model.to_owned()).increment(usage.micros);
        let reply = result.map_err(|error| {
            tracing::warn!(call = call.id, model = call.model, question = call.question, ms, %error, "model gave no answer");
            Failure { what: error.to_string().into(), usage: Some(usage) }
        })?;
        tracing::debug!(
            call = call.id,
            model = call.model,
            question = call.question,
            tokens_in,
            tokens_out,
            cached,
            micros = usage.micros,
            ms,
            "answered"
        );
        tracing::trace!(call = call.id, answer = reply.text, "prompt");
        match reply.calls.is_empty() {
            true => Ok(Draft::Words(Answer { text: reply.text.into(), usage })),
            false => Ok(Draft::Calls(reply.calls, usage)),
        }
    }

    async fn ask(
        &self,
        call: &ModelCall<'_>,
        prompt: Prompt,
        policy: &Policy,
        meter: &Meter,
    ) -> Result<ModelReply, ModelError> {
        let give_up = |what| ModelError::GiveUp { what };
        let address = self.address(call.model, policy).map_err(give_up)?;
        let address = address.ok_or_else(|| give_up(format!("{OFFLINE} cannot write this")))?;
        let request = ModelRequest {
            model: address.model.clone(),
            prompt,
            tokens_max: call.tokens_max,
            thinking_tokens: policy.settings.models.thinking_tokens,
            thinking: call.thinking,
        };
        let client = self.client.client().map_err(give_up)?;
        let remote = Remote { client, address, plain: self.plain.clone(), meter: meter.clone() };
        let models = &policy.settings.models;
        let room = QueueLimits { parallel_max: models.parallel_max as usize, waiting_max: models.waiting_max as usize };
        let limits = RetryLimits::of(&policy.settings);
        let (remote, request) = (&remote, &request);
        with_retries(limits, stable_hash(0, &call.id), |attempt| async move {
            // The permit is taken for each attempt, so that a call that pauses lets others go ahead.
            let _turn = self.queue.take(call.urgency, room).await?;
            tracing::debug!(call = call.id, model = call.model, question = call.question, attempt, "asking the model");
            in_time(limits.timeout, remote.answer(request)).await
        })
        .await
    }
}

/// Whether every model in the settings can be called: the program starts only then. `Err` says what is missing.
pub fn check(policies: &Policies, environment: &dyn Fn(&str) -> Option<String>) -> Result<Variables, UnusableModel> {
    let variables = Variables::read(policies, environment);
    for policy in policies.all() {
        for (key, model) in models_in_use(policy) {
            let unusable = |what| UnusableModel { key, model: model.to_owned(), what };
            address_of(model, policy, &variables).map_err(unusable)?;
        }
    }
    Ok(variables)
}

/// A model that cannot be called.
#[derive(Debug)]
pub struct UnusableModel {
    /// The setting that names it.
    pub key: &'static str,
    pub model: String,
    what: String,
}

impl std::fmt::Display for UnusableModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.key, self.what)
    }
}

impl std::error::Error for UnusableModel {}

/// The models in use, each with the setting that names it. An empty setting means the main model.
fn models_in_use(policy: &Policy) -> impl Iterator<Item = (&'static str, &str)> {
    let (models, memory) = (&policy.settings.models, &policy.settings.memory);
    let (summarizes, reflects) = (memory.enabled && memory.channel_context, memory.enabled && memory.reflection);
    let named = [
        (true, "models.main", &models.main),
        (true, "models.judge", &models.judge),
        (summarizes, "models.summarize", &models.summarize),
        (reflects, "models.reflect", &models.reflect),
    ];
    named
        .into_iter()
        .filter(|(is_asked, _, model)| *is_asked && (!model.is_empty()))
        .map(|(_, key, model)| (key, &**model))
}

/// The address of a model; `None` for the built-in one. `Err` says what is missing.
pub(super) fn address_of(model: &str, policy: &Policy, variables: &Variables) -> Result<Option<ModelAddress>, String> {
    if model == OFFLINE {
        return Ok(None);
    }
    let address = find(model, &policy.settings.providers, variables)?;
    if address.key.is_missing() {
        let ModelAddress { provider, key, .. } = &address;
        return Err(format!(
            "the model {model:?} needs an API key of {provider}: set the environment variable {}",
            key.variable
        ));
    }
    Ok(Some(address))
}

/// Counts a call when it ends, even if it was dropped on the way.
struct CallTimer {
    model: String,
    question: &'static str,
    outcome: &'static str,
    begun: Instant,
}

impl CallTimer {
    fn begin(call: &ModelCall<'_>) -> CallTimer {
        CallTimer { model: call.model.to_owned(), question: call.question, outcome: "aborted", begun: Instant::now() }
    }

    fn ends(&mut self, result: &Result<ModelReply, ModelError>) {
        self.outcome = match result {
            Ok(_) => "answered",
            Err(ModelError::TryLater { .. }) => "busy",
            Err(ModelError::GiveUp { .. }) => "refused",
        };
    }
}

impl Drop for CallTimer {
    fn drop(&mut self) {
        let model = || self.model.clone();
        let outcome = self.outcome;
        counter!("aizuchi_model_calls_total", "model" => model(), "question" => self.question, "outcome" => outcome)
            .increment(1);
        histogram!("aizuchi_model_seconds", "model" => model()).record(self.begun.elapsed().as_secs_f64());
    }
}

impl ModelClient for Models {
    fn judge(self: Arc<Self>, ask: Box<Ask>, policies: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async move {
            let policy = policies.for_room(ask.call.room.as_str());
            let question = ask.question.id();
            let call = ModelCall {
                id: ask.call.to_string(),
                model: &ask.model,
                question,
                tokens_max: ask.tokens_max,
                thinking: Thinking::Least,
                urgency: Urgency::Unasked,
            };
            if call.model == OFFLINE {
                CallTimer::begin(&call).ends(&Ok(ModelReply::default()));
                return Ok(offline::answer(offline::judge(&ask), &ask.transcript));
            }
            let prompt = self.prompts.judge(&ask, policy).map_err(Failure::unpaid)?;
            self.call(call, prompt, policy).await
        })
    }

    fn write(
        self: Arc<Self>,
        brief: Box<Brief>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async move {
            match self.draft(brief, Vec::new(), policies).await? {
                Draft::Words(answer) => Ok(answer),
                Draft::Calls(_, usage) => Err(Failure { what: NO_TOOLS.into(), usage: Some(usage) }),
            }
        })
    }

    fn draft(
        self: Arc<Self>,
        brief: Box<Brief>,
        tools: Vec<ToolSpec>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        Box::pin(async move {
            let policy = policies.for_room(brief.call.room.as_str());
            let call = ModelCall {
                id: brief.call.to_string(),
                model: &brief.model,
                question: "write",
                tokens_max: brief.tokens_max,
                thinking: Thinking::Some,
                urgency: if brief.addressed { Urgency::Addressed } else { Urgency::Unasked },
            };
            if call.model == OFFLINE {
                CallTimer::begin(&call).ends(&Ok(ModelReply::default()));
                let text = offline::write(&brief, &policy.settings.bot.language);
                return Ok(Draft::Words(offline::answer(text, &brief.transcript)));
            }
            let prompt = self.prompts.write(&brief, tools, policy).map_err(Failure::unpaid)?;
            self.draft_with(call, prompt, policy).await
        })
    }

    fn digest(
        self: Arc<Self>,
        digest: Box<DigestRequest>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async move { self.take_in(&digest, policies.for_room(digest.call.room.as_str())).await })
    }
}

impl Models {
    async fn take_in(&self, digest: &DigestRequest, policy: &Policy) -> Result<Answer, Failure> {
        let call = ModelCall {
            id: digest.call.to_string(),
            model: &digest.model,
            question: match digest.what {
                Digesting::Summary => "summarize",
                Digesting::Reflection => "reflect",
            },
            tokens_max: digest.tokens_max,
            thinking: Thinking::Least,
            urgency: Urgency::Unasked,
        };
        if call.model == OFFLINE {
            CallTimer::begin(&call).ends(&Ok(ModelReply::default()));
            let transcript = Transcript { lines: digest.lines.clone(), ..Transcript::default() };
            return Ok(offline::answer(offline::write_digest(digest), &transcript));
        }
        let prompt = self.prompts.digest(digest, policy).map_err(Failure::unpaid)?;
        self.call(call, prompt, policy).await
    }
}

/// Sends a model one tiny request, once, to check that it answers. `Err` says what to fix.
pub fn try_call(
    model: &str,
    policy: &Policy,
    variables: &Variables,
) -> BoxFuture<'static, Result<(ModelReply, Duration), String>> {
    let address = address_of(model, policy, variables);
    let settings = &policy.settings.models;
    let (timeout, thinking_tokens) = (Duration::from_secs(settings.timeout_seconds.into()), settings.thinking_tokens);
    Box::pin(async move {
        let Some(address) = address? else {
            return Ok((ModelReply { text: OFFLINE.into(), ..ModelReply::default() }, Duration::ZERO));
        };
        let request = ModelRequest {
            model: address.model.clone(),
            prompt: Prompt {
                system: "You are asked whether you can be reached.".into(),
                turns: vec![PromptTurn { by: Role::User, text: "Answer with the one word: yes".into() }],
                schema: None,
                tools: PromptTools::default(),
            },
            tokens_max: 16,
            thinking_tokens,
            thinking: Thinking::Least,
        };
        let remote = Remote {
            client: LazyClient::default().client()?,
            address,
            plain: PlainModels::default(),
            meter: Meter::default(),
        };
        let begun = Instant::now();
        let reply = in_time(timeout, remote.answer(&request)).await.map_err(|error| error.to_string())?;
        Ok((reply, begun.elapsed()))
    })
}
