//! Talks to a Restate server: tells rooms what happened, registers workers, and asks how it is.

use std::time::Duration;

use aizuchi_core::types::RoomId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::{Client, RequestBuilder, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::state::{RoomState, Stamped};
use crate::tls::client_builder;

/// How long it may take to connect; a server that is gone is noticed by it.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);
/// How long an answer may take. A server that has stopped without closing its connections is noticed by it.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Cheap to clone.
#[derive(Clone)]
pub struct RestateClient {
    http: Client,
    ingress: String,
    admin: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestateError {
    #[error("Restate does not answer: {0}")]
    Unavailable(String),
    #[error("Restate refused: {0}")]
    Refused(String),
}

/// A worker, or several of one build behind one address.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Deployment {
    pub id: String,
    #[serde(default)]
    pub uri: String,
}

/// Something that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StuckInvocation {
    pub service: String,
    /// The room; none of a call.
    #[serde(default)]
    pub room: Option<String>,
    pub status: String,
    #[serde(default)]
    pub attempts: Option<u64>,
    #[serde(default)]
    pub error: Option<String>,
}

const STUCK: &str =
    "SELECT target_service_name AS service, target_service_key AS room, status, retry_count AS attempts,
    last_failure AS error FROM sys_invocation WHERE status IN ('backing-off', 'paused') ORDER BY modified_at LIMIT 100";

impl RestateClient {
    /// `Err` if there can be no client at all.
    pub fn new(ingress: &str, admin: &str) -> Result<RestateClient, RestateError> {
        let http =
            client_builder().tcp_nodelay(true).no_proxy().connect_timeout(CONNECTS_WITHIN).timeout(ANSWERS_WITHIN);
        let http = http.build().map_err(|error| RestateError::Unavailable(error.to_string()))?;
        let trimmed = |url: &str| url.trim_end_matches('/').to_owned();
        Ok(RestateClient { http, ingress: trimmed(ingress), admin: trimmed(admin) })
    }

    /// Tells a room what happened. Returns when it is durable; told again under the same key, it happened once.
    pub async fn tell(&self, room: &RoomId, key: &str, told: &[Stamped]) -> Result<(), RestateError> {
        let body = serde_json::to_vec(told).expect("what happened can be written");
        let request = self.http.post(self.url_of("send", room, "handle")).header("idempotency-key", key);
        self.answer(request.header("content-type", "application/octet-stream").body(body)).await.map(drop)
    }

    /// The same, and returns when the room has handled it.
    pub async fn call(&self, room: &RoomId, key: &str, told: &[Stamped]) -> Result<(), RestateError> {
        let body = serde_json::to_vec(told).expect("what happened can be written");
        let request = self.http.post(self.url_of("call", room, "handle")).header("idempotency-key", key);
        self.answer(request.header("content-type", "application/octet-stream").body(body)).await.map(drop)
    }

    /// Tells a room the time. Nothing happens where nothing is due.
    pub async fn tick(&self, room: &RoomId, due: u64) -> Result<(), RestateError> {
        let request = self.http.post(self.url_of("call", room, "tick"));
        self.answer(request.json(&due)).await.map(drop)
    }

    /// Whether the room pays for something.
    pub async fn pay(&self, room: &RoomId, bill: &Value) -> Result<bool, RestateError> {
        let answer = self.answer(self.http.post(self.url_of("call", room, "pay")).json(bill)).await?;
        serde_json::from_slice(&answer).map_err(|error| RestateError::Refused(error.to_string()))
    }

    /// Has a room forget somebody. Returns when it has.
    pub async fn forget(&self, room: &RoomId, forgetting: &Value) -> Result<(), RestateError> {
        self.answer(self.http.post(self.url_of("call", room, "forget")).json(forgetting)).await.map(drop)
    }

    /// The state of a room; an empty one where nothing was ever heard.
    pub async fn look(&self, room: &RoomId) -> Result<RoomState, RestateError> {
        let bytes = self.answer(self.http.post(self.url_of("call", room, "look"))).await?;
        match &bytes[..] {
            [] => Ok(RoomState::default()),
            bytes => RoomState::decode(bytes).map_err(RestateError::Refused),
        }
    }

    /// Makes a worker known under its address. One that is known already is asked anew what it offers.
    pub async fn register(&self, uri: &str) -> Result<Deployment, RestateError> {
        let asked = json!({"uri": uri, "force": true, "use_http_11": false});
        let request = self.http.post(format!("{}/deployments", self.admin)).json(&asked);
        let answer = self.answer(request).await?;
        let answer: Value =
            serde_json::from_slice(&answer).map_err(|error| RestateError::Refused(error.to_string()))?;
        Ok(Deployment { id: answer["id"].as_str().unwrap_or_default().to_owned(), uri: uri.to_owned() })
    }

    /// What the server knows of itself, in SQL.
    pub async fn query(&self, sql: &str) -> Result<Vec<Value>, RestateError> {
        let request = self.http.post(format!("{}/query", self.admin)).header("accept", "application/json");
        let answer = self.answer(request.json(&json!({"query": sql}))).await?;
        let mut answer: Value =
            serde_json::from_slice(&answer).map_err(|error| RestateError::Refused(error.to_string()))?;
        let Value::Array(rows) = answer["rows"].take() else {
            return Err(RestateError::Refused("an answer without rows".into()));
        };
        Ok(rows)
    }

    /// What fails and is tried again, or has been given up.
    pub async fn stuck(&self) -> Result<Vec<StuckInvocation>, RestateError> {
        let rows = self.query(STUCK).await?;
        let read = |row| serde_json::from_value(row).map_err(|error| RestateError::Refused(error.to_string()));
        rows.into_iter().map(read).collect()
    }

    /// Whether it takes requests.
    pub async fn check(&self) -> Result<(), RestateError> {
        self.answer(self.http.get(format!("{}/restate/health", self.ingress))).await.map(drop)
    }

    fn url_of(&self, how: &str, room: &RoomId, handler: &str) -> String {
        let room = utf8_percent_encode(room.as_str(), NON_ALPHANUMERIC);
        format!("{}/restate/{how}/Room/{room}/{handler}", self.ingress)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Vec<u8>, RestateError> {
        let gone = |error: reqwest::Error| RestateError::Unavailable(error.without_url().to_string());
        let response = request.send().await.map_err(gone)?;
        let status = response.status();
        let body = response.bytes().await.map_err(gone)?;
        if status.is_success() {
            return Ok(body.to_vec());
        }
        let told = format!("{status}: {}", String::from_utf8_lossy(&body));
        let passes =
            status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::NOT_FOUND;
        Err(if passes { RestateError::Unavailable(told) } else { RestateError::Refused(told) })
    }
}
