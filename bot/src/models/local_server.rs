//! A model server on this machine, used if nobody has chosen a model and no key is set.
//!
//! All servers of the table are asked concurrently for the list of their models; the first in the table's order that has a
//! chat model is used. A server that does not answer in time, or does not speak the protocol, is not used.

use std::time::Duration;

use aizuchi_core::Policy;
use aizuchi_core::settings::{Layers, WireFormat, is_own_network};
use reqwest::{Client, StatusCode, redirect};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::choose::{choose, may_use_local_server};
use super::providers::{KnownProvider, ModelAddress, PROVIDERS, Variables, find};
use crate::config;
use crate::tls;

/// A model on a server on this machine.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct LocalModel {
    pub provider: &'static str,
    /// Without the provider.
    pub model: String,
    /// The name of the server software.
    pub server: &'static str,
    /// Host and port.
    pub address: String,
    #[serde(skip)]
    url: String,
}

impl LocalModel {
    fn new(row: &KnownProvider, address: &ModelAddress, model: String) -> LocalModel {
        let shown = address.shown_url();
        let host = shown.split_once("://").map_or(&*shown, |(_, rest)| rest).split('/').next().unwrap_or_default();
        LocalModel { provider: row.name, model, server: row.title, address: host.to_owned(), url: address.url.clone() }
    }

    /// As `provider/model`.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl std::fmt::Display for LocalModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {} at {}", self.model, self.server, self.address)
    }
}

/// Looks for a server, unless a model is chosen, a key is set, or the settings say not to (`models.local_server`).
/// `remembered` was found before: it is kept without another request, as long as its address is the same.
pub async fn find_local_model(
    layers: &Layers,
    environment: &dyn Fn(&str) -> Option<String>,
    remembered: Option<&LocalModel>,
) -> anyhow::Result<Option<LocalModel>> {
    let Some(search) = ServerSearch::new(layers, environment)? else { return Ok(None) };
    match remembered.filter(|local| search.has(local)) {
        Some(local) => Ok(Some(local.clone())),
        None => Ok(search.run().await),
    }
}

struct ServerSearch {
    policy: Policy,
    servers: Vec<(&'static KnownProvider, ModelAddress)>,
}

/// The maximum size of a list of models.
const LIST_BYTES_MAX: usize = 1 << 20;
/// The maximum length of a model's name.
const NAME_CHARS_MAX: usize = 200;

impl ServerSearch {
    fn new(layers: &Layers, environment: &dyn Fn(&str) -> Option<String>) -> anyhow::Result<Option<ServerSearch>> {
        let mut layers = layers.clone();
        let choice = choose(&mut layers, environment, None)?;
        let policies = config::resolve(&layers)?;
        let policy = policies.general().clone();
        if !choice.is_offline() || !may_use_local_server(&layers, &policy) {
            return Ok(None);
        }
        let variables = Variables::read(&policies, environment);
        let address = |row: &'static KnownProvider| {
            let any = format!("{}/any", row.name);
            let address = find(&any, &policy.settings.providers, &variables).ok()?;
            let is_free = is_own_network(&address.url) && !policy.settings.pricing(&any).basis.is_estimate();
            (is_free && !address.key.is_missing()).then_some((row, address))
        };
        let servers = PROVIDERS.iter().filter(|row| !row.needs_key).filter_map(address).collect();
        Ok(Some(ServerSearch { policy, servers }))
    }

    fn has(&self, local: &LocalModel) -> bool {
        self.servers.iter().any(|(row, address)| row.name == local.provider && address.url == local.url)
    }

    async fn run(self) -> Option<LocalModel> {
        let wait = Duration::from_millis(self.policy.settings.models.local_server_ms.into());
        let client = tls::client_builder().redirect(redirect::Policy::none()).build().ok()?;
        let deadline = Instant::now() + wait;
        let ask = |(row, address): &(&'static KnownProvider, ModelAddress)| {
            let listing = list_models(client.clone(), address.clone());
            (*row, address.clone(), tokio::spawn(timeout_at(deadline, listing)))
        };
        let asked: Vec<_> = self.servers.iter().map(ask).collect();
        let mut found = None;
        for (row, address, listing) in asked {
            // Once one is found, the others need not answer.
            if found.is_some() {
                listing.abort();
            } else if let Ok(Ok(Some(names))) = listing.await {
                let usable = |name: &String| self.is_usable(row, name);
                found = names.into_iter().find(usable).map(|name| LocalModel::new(row, &address, name));
            }
        }
        found
    }

    /// Whether it is a chat model that runs locally: Ollama also lists models that run elsewhere.
    fn is_usable(&self, row: &KnownProvider, name: &str) -> bool {
        let is_name = !name.trim().is_empty() && name.chars().count() <= NAME_CHARS_MAX;
        let full_name = format!("{}/{name}", row.name);
        is_name
            && !name.chars().any(char::is_control)
            && is_chat_model(name)
            && !self.policy.settings.pricing(&full_name).basis.is_estimate()
    }
}

/// The names of a server's models; `None` if it does not speak the protocol.
async fn list_models(client: Client, address: ModelAddress) -> Option<Vec<String>> {
    let path = match address.format {
        WireFormat::OpenAi => "models",
        WireFormat::Ollama => "api/tags",
        WireFormat::Anthropic | WireFormat::Google => return None,
    };
    let mut request = client.get(format!("{}{path}", address.url));
    if let Some(key) = &address.key.secret {
        request = request.bearer_auth(key.expose_secret());
    }
    let mut response = request.send().await.ok().filter(|response| response.status() == StatusCode::OK)?;
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.ok()? {
        if body.len() + piece.len() > LIST_BYTES_MAX {
            return None;
        }
        body.extend_from_slice(&piece);
    }
    Some(names(address.format, &serde_json::from_slice(&body).ok()?))
}

fn names(format: WireFormat, list: &Value) -> Vec<String> {
    let (list, name) = match format {
        WireFormat::Ollama => (&list["models"], "name"),
        WireFormat::OpenAi | WireFormat::Anthropic | WireFormat::Google => (&list["data"], "id"),
    };
    list.as_array().into_iter().flatten().filter_map(|model| model[name].as_str().map(str::to_owned)).collect()
}

/// Substrings in the names of models that embed, rank or transcribe.
const OTHER_USES: [&str; 4] = ["embed", "minilm", "rerank", "whisper"];
/// Families of embedding models whose names do not say so.
const EMBEDDING_FAMILIES: [&str; 5] = ["bge-", "e5-", "gte-", "multilingual-e5", "paraphrase-"];

/// Guesses from the name, since the lists do not say what a model is for.
fn is_chat_model(name: &str) -> bool {
    let name = name.to_lowercase();
    let last = name.rsplit('/').next().unwrap_or_default();
    !OTHER_USES.iter().any(|word| name.contains(word)) && !EMBEDDING_FAMILIES.iter().any(|word| last.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_that_make_vectors_do_not_chat() {
        for name in ["llama3.2:latest", "qwen/qwen3-4b", "gemma3n:e4b", "/models/Mistral-7B.Q4_K_M.gguf"] {
            assert!(is_chat_model(name), "{name}");
        }
        for name in [
            "nomic-embed-text:latest",
            "text-embedding-nomic-embed-text-v1.5",
            "bge-m3",
            "all-minilm:l6-v2",
            "intfloat/multilingual-e5-large",
            "Qwen3-Reranker-0.6B",
        ] {
            assert!(!is_chat_model(name), "{name}");
        }
    }

    #[test]
    fn a_list_of_another_shape_names_nothing() {
        for odd in ["null", "[]", "{}", r#"{"data": {"id": "x"}}"#, r#"{"data": [{"id": 7}, {"name": "x"}, null]}"#] {
            assert!(names(WireFormat::OpenAi, &serde_json::from_str(odd).unwrap()).is_empty(), "{odd}");
        }
        let list = serde_json::json!({"models": [{"name": "a"}, {"name": "b"}]});
        assert_eq!(names(WireFormat::Ollama, &list), ["a", "b"]);
    }
}
