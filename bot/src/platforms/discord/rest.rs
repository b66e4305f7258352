//! Asks Discord's REST API: one call, its answer as JSON, and troubles by what can be done about them. Buckets are kept
//! by twilight.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::Value;
use twilight_http::Client;
use twilight_http::error::{Error, ErrorType};
use twilight_http::request::{Method, RequestBuilder};

use super::read::{bits, text};

/// Why a call came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    /// Nobody knows whether it was done.
    #[error("no clear answer from Discord: {0}")]
    Unclear(String),
    #[error("Discord asks for patience")]
    Busy,
    #[error("Discord has trouble (status {0})")]
    Broken(u16),
    #[error("Discord refuses it: {what} (status {status}, code {code})")]
    Refused { status: u16, code: u64, what: String },
    #[error("Discord does not accept the bot's token: make a new one in the developer portal (Bot, Reset Token)")]
    BadToken,
}

#[derive(Debug)]
pub struct Rest {
    client: Client,
}

const PATIENCE: Duration = Duration::from_secs(10);
/// Twilight asks again after a 429: when the bucket says so, or at once if it was not the bucket.
const ATTEMPTS_MAX: u32 = 3;

#[derive(Clone, Copy)]
enum As {
    Bot,
    /// The path itself holds what opens it.
    Anybody,
}

impl Rest {
    /// `api_url` is where Discord's API is asked; "" is Discord itself.
    pub fn new(api_url: &str, token: String) -> Rest {
        // Whoever came first has chosen; without a choice two of them linked are a panic.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client = Client::builder().token(token).timeout(PATIENCE);
        let client = match api_url.trim_end_matches('/') {
            "" => client,
            url => match url.strip_prefix("http://") {
                Some(host) => client.proxy(host.to_owned(), true),
                None => client.proxy(url.strip_prefix("https://").unwrap_or(url).to_owned(), false),
            },
        };
        Rest { client: client.build() }
    }

    pub async fn get(&self, path: String) -> Result<Value, Trouble> {
        self.call(As::Bot, Method::Get, path, None).await
    }

    pub async fn post(&self, path: String, body: Option<&Value>) -> Result<Value, Trouble> {
        self.call(As::Bot, Method::Post, path, body).await
    }

    pub async fn put(&self, path: String, body: Option<&Value>) -> Result<Value, Trouble> {
        self.call(As::Bot, Method::Put, path, body).await
    }

    /// Interactions carry their own permission.
    pub async fn post_openly(&self, path: String, body: &Value) -> Result<Value, Trouble> {
        self.call(As::Anybody, Method::Post, path, Some(body)).await
    }

    pub async fn patch_openly(&self, path: String, body: &Value) -> Result<Value, Trouble> {
        self.call(As::Anybody, Method::Patch, path, Some(body)).await
    }

    async fn call(&self, by: As, method: Method, path: String, body: Option<&Value>) -> Result<Value, Trouble> {
        let request = RequestBuilder::raw(method, path).use_authorization_token(matches!(by, As::Bot));
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        let mut answer = self.client.request::<()>(request.build().map_err(trouble)?);
        let attempts = AtomicU32::new(0);
        answer.set_pre_flight(move || attempts.fetch_add(1, Ordering::Relaxed) < ATTEMPTS_MAX);
        let body = answer.await.map_err(trouble)?.bytes();
        let unclear = |why: &dyn std::fmt::Display| Trouble::Unclear(why.to_string());
        let body = tokio::time::timeout(PATIENCE, body).await.map_err(|late| unclear(&late))?;
        let body = body.map_err(|error| unclear(&error))?;
        if body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|error| unclear(&error))
    }
}

fn trouble(error: Error) -> Trouble {
    match error.kind() {
        ErrorType::Response { status, .. } if status.get() == 401 => Trouble::BadToken,
        ErrorType::Unauthorized => Trouble::BadToken,
        ErrorType::Response { status, .. } if status.get() >= 500 => Trouble::Broken(status.get()),
        ErrorType::Response { status, .. } if status.get() == 429 => Trouble::Busy,
        ErrorType::Response { status, body, .. } => {
            let told: Value = serde_json::from_slice(body).unwrap_or_default();
            let what = text(&told, "message").unwrap_or("no reason given").to_owned();
            Trouble::Refused { status: status.get(), code: bits(&told, "code"), what }
        }
        ErrorType::RequestCanceled => Trouble::Busy,
        ErrorType::CreatingHeader { .. } => Trouble::BadToken,
        // A page of whatever stands before Discord: its status is lost, and it is not an answer.
        _ => {
            let source = std::error::Error::source(&error).map(|source| format!(": {source}")).unwrap_or_default();
            match error.kind() {
                ErrorType::Parsing { .. } => Trouble::Unclear("not JSON".into()),
                _ => Trouble::Unclear(format!("{error}{source}")),
            }
        }
    }
}
