//! Embeddings of texts, from the provider that the settings name: any OpenAI-compatible address, Google, Ollama, or a folder.

use std::path::Path;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::settings::WireFormat;
use aizuchi_core::types::stable_hash;
use aizuchi_core::usage::tokens_of_bytes;
use genai::embed::EmbedRequest;

use super::ask::address_of;
use super::errors::{explain, give_up, is_unpaid, try_later};
use super::providers::Variables;
use super::remote::{PlainModels, Remote};
use super::retry::{RetryLimits, in_time, with_retries};
use crate::features::LOCAL_EMBEDDINGS;
use crate::meter::{Meter, TokenCount};
use crate::ports::{BoxFuture, Embedder, ModelError};
use crate::tls;

/// The embedder, if the settings enable it (`memory.vectors`). `Err` as with [`embedder`].
pub fn wanted_embedder(
    policies: &Policies,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Arc<dyn Embedder>>, String> {
    let memory = &policies.general().settings.memory;
    if memory.enabled && memory.vectors { embedder(policies, environment).map(Some) } else { Ok(None) }
}

/// The embedder that the settings name (`models.embed`). `Err` says what is wrong with it.
pub fn embedder(
    policies: &Policies,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Arc<dyn Embedder>, String> {
    match policies.general().settings.models.embed.trim().strip_prefix("folder:") {
        Some(folder) => {
            LOCAL_EMBEDDINGS.require(&format!("models.embed = \"folder:{folder}\""))?;
            in_folder(Path::new(folder))
        }
        None => Ok(Arc::new(Embeddings::new(policies, environment)?)),
    }
}

#[cfg(feature = "local-embeddings")]
fn in_folder(folder: &Path) -> Result<Arc<dyn Embedder>, String> {
    let local = super::local::LocalEmbeddings::open(folder).map_err(|error| format!("models.embed: {error}"))?;
    Ok(Arc::new(local))
}

#[cfg(not(feature = "local-embeddings"))]
fn in_folder(_: &Path) -> Result<Arc<dyn Embedder>, String> {
    unreachable!("the feature was required")
}

/// A remote model that embeds texts.
pub struct Embeddings {
    remote: Remote,
    limits: RetryLimits,
    name: String,
}

/// How many texts are sent in one request.
const TOGETHER: usize = 64;

impl Embeddings {
    /// The model of the settings (`models.embed`). `Err` says what is wrong with its name or its key.
    pub fn new(policies: &Policies, environment: &dyn Fn(&str) -> Option<String>) -> Result<Embeddings, String> {
        let policy = policies.general();
        let named = policy.settings.models.embed.trim();
        let name = policy
            .settings
            .embedding_model()
            .ok_or_else(|| format!("`models.embed` must be provider/model here, got {named:?}, a folder"))?;
        let Some(address) = address_of(&name, policy, &Variables::read(policies, environment))? else {
            return Err(format!("`models.embed` must be a model that makes embeddings, got {named:?}"));
        };
        if address.format == WireFormat::Anthropic {
            return Err(format!(
                "`models.embed` must be a model that makes embeddings, got {named:?}: {} has none",
                address.provider
            ));
        }
        let client = tls::model_client()?;
        let remote = Remote { client, address, plain: PlainModels::default(), meter: Meter::default() };
        Ok(Embeddings { remote, limits: RetryLimits::of(&policy.settings), name })
    }

    async fn some(&self, texts: &[String], meter: &Meter) -> Result<Vec<Vec<f32>>, ModelError> {
        let Remote { client, address, .. } = &self.remote;
        let attempt = |_| {
            let asked = client.exec_embed(self.remote.target(), EmbedRequest::new_batch(texts.to_vec()), None);
            in_time(self.limits.timeout, async {
                let attempt = meter.begin(texts.iter().map(|text| tokens_of_bytes(text.len())).sum(), 0);
                let answer = asked.await;
                match &answer {
                    Ok(made) => {
                        let told = made.usage.prompt_tokens.and_then(|tokens| u64::try_from(tokens).ok());
                        let tokens_in = told.filter(|tokens| *tokens > 0);
                        attempt.answered(TokenCount { tokens_in, ..TokenCount::default() });
                    }
                    Err(error) if is_unpaid(error) => attempt.refused(),
                    Err(_) => drop(attempt),
                }
                answer.map_err(|error| explain(&error, address))
            })
        };
        let mut answer = with_retries(self.limits, stable_hash(0, &texts[0]), attempt).await?.embeddings;
        answer.sort_by_key(|embedding| embedding.index);
        if answer.len() != texts.len() {
            let told = format!("{} returned {} vectors for {} texts", address.provider, answer.len(), texts.len());
            return Err(try_later(told));
        }
        answer.into_iter().map(|embedding| of_length_one(embedding.vector)).collect()
    }
}

impl Embedder for Embeddings {
    fn model(&self) -> &str {
        &self.name
    }

    fn embed<'a>(&'a self, texts: &'a [String], meter: &'a Meter) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for together in texts.chunks(TOGETHER) {
                vectors.extend(self.some(together, meter).await?);
            }
            Ok(vectors)
        })
    }
}

pub fn of_length_one(mut vector: Vec<f32>) -> Result<Vec<f32>, ModelError> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if !length.is_finite() || length <= 0.0 {
        return Err(give_up("the provider returned a zero or invalid vector".into()));
    }
    vector.iter_mut().for_each(|number| *number /= length);
    Ok(vector)
}
