//! Talks to a Restate server: tells rooms what happened, and asks how it is.

use std::time::Duration;

use aizuchi_core::types::RoomId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoints::Endpoints;
use super::state::{RoomState, Stamped};
use crate::tls::client_builder;

/// How long it may take to connect; a server that is gone is noticed by it.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);

/// Cheap to clone. What it asks may be asked twice: an address that does not answer in time may have done it.
#[derive(Clone)]
pub struct RestateClient {
    ingress: Endpoints,
    pub(super) admin: Endpoints,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestateError {
    #[error("Restate does not answer: {0}")]
    Unavailable(String),
    #[error("Restate refused: {0}")]
    Refused(String),
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

/// A worker that restarts or a database that is away for some seconds makes fewer attempts fail.
const ATTEMPTS_UNTIL_STUCK: u64 = 8;

impl StuckInvocation {
    /// Whether it has failed for so long that somebody should look.
    pub fn needs_help(&self) -> bool {
        self.status == "paused" || self.attempts.unwrap_or_default() >= ATTEMPTS_UNTIL_STUCK
    }
}

const STUCK: &str =
    "SELECT target_service_name AS service, target_service_key AS room, status, retry_count AS attempts,
    last_failure AS error FROM sys_invocation WHERE status IN ('backing-off', 'paused') ORDER BY modified_at LIMIT 100";

impl RestateClient {
    /// Each is one URL, or several with commas between them. `Err` if there can be no client at all.
    pub fn new(ingress: &str, admin: &str) -> Result<RestateClient, RestateError> {
        let http = client_builder().tcp_nodelay(true).no_proxy().connect_timeout(CONNECTS_WITHIN);
        let http = http.build().map_err(|error| RestateError::Unavailable(error.to_string()))?;
        Ok(RestateClient { ingress: Endpoints::new(http.clone(), ingress), admin: Endpoints::new(http, admin) })
    }

    /// Tells a room what happened. Returns when it is durable; told again under the same key, it happened once.
    pub async fn tell(&self, room: &RoomId, key: &str, told: &[Stamped]) -> Result<(), RestateError> {
        let body = serde_json::to_vec(told).expect("what happened can be written");
        let told = self.ingress.hand_over(|http, base| {
            let request = http.post(url_of(base, "send", room, "handle")).header("idempotency-key", key);
            request.header("content-type", "application/octet-stream").body(body.clone())
        });
        told.await.map(drop)
    }

    /// The same, and returns when the room has handled it.
    pub async fn call(&self, room: &RoomId, key: &str, told: &[Stamped]) -> Result<(), RestateError> {
        let body = serde_json::to_vec(told).expect("what happened can be written");
        let called = self.ingress.ask(|http, base| {
            let request = http.post(url_of(base, "call", room, "handle")).header("idempotency-key", key);
            request.header("content-type", "application/octet-stream").body(body.clone())
        });
        called.await.map(drop)
    }

    /// Tells a room the time. Nothing happens where nothing is due.
    pub async fn tick(&self, room: &RoomId, due: u64) -> Result<(), RestateError> {
        let told = self.ingress.ask(|http, base| http.post(url_of(base, "call", room, "tick")).json(&due));
        told.await.map(drop)
    }

    /// Has a room of a single process go on in the cluster. Returns when that is durable.
    pub async fn take_over(&self, room: &RoomId, at: u64) -> Result<(), RestateError> {
        let request = |http: &reqwest::Client, base: &str| {
            http.post(url_of(base, "send", room, "take_over")).header("idempotency-key", "take over").json(&at)
        };
        self.ingress.ask(request).await.map(drop)
    }

    /// Whether the room pays for something. It pays once.
    pub async fn pay(&self, room: &RoomId, bill: &Value) -> Result<bool, RestateError> {
        let key = unique_key();
        let paid = self
            .ingress
            .ask(|http, base| http.post(url_of(base, "call", room, "pay")).header("idempotency-key", &key).json(bill));
        serde_json::from_slice(&paid.await?).map_err(|error| RestateError::Refused(error.to_string()))
    }

    /// Has a room forget somebody. Returns when it has.
    pub async fn forget(&self, room: &RoomId, forgetting: &Value) -> Result<(), RestateError> {
        let forgotten = self.ingress.ask(|http, base| http.post(url_of(base, "call", room, "forget")).json(forgetting));
        forgotten.await.map(drop)
    }

    /// The state of a room; an empty one where nothing was ever heard.
    pub async fn look(&self, room: &RoomId) -> Result<RoomState, RestateError> {
        let bytes = self.ingress.ask(|http, base| http.post(url_of(base, "call", room, "look"))).await?;
        match &bytes[..] {
            [] => Ok(RoomState::default()),
            bytes => RoomState::decode(bytes).map_err(RestateError::Refused),
        }
    }

    /// What the server knows of itself, in SQL.
    pub async fn query(&self, sql: &str) -> Result<Vec<Value>, RestateError> {
        let asked = json!({"query": sql});
        let answer = self
            .admin
            .ask(|http, base| http.post(format!("{base}/query")).header("accept", "application/json").json(&asked));
        let mut answer: Value =
            serde_json::from_slice(&answer.await?).map_err(|error| RestateError::Refused(error.to_string()))?;
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

    /// How many nodes keep the metadata of the cluster; none if it does not say.
    pub async fn metadata_members(&self) -> Result<Option<usize>, RestateError> {
        let answer = self.admin.ask(|http, base| http.get(format!("{base}/cluster-health"))).await?;
        let answer: Value =
            serde_json::from_slice(&answer).map_err(|error| RestateError::Refused(error.to_string()))?;
        Ok(answer["metadata_cluster_health"]["members"].as_array().map(Vec::len))
    }

    /// Whether each address answers, those for requests first.
    pub async fn health(&self) -> Vec<(String, Result<(), RestateError>)> {
        let mut all = self.ingress.check_each("/restate/health").await;
        all.extend(self.admin.check_each("/health").await);
        all
    }

    /// Whether it takes requests.
    pub async fn check(&self) -> Result<(), RestateError> {
        self.ingress.ask(|http, base| http.get(format!("{base}/restate/health"))).await.map(drop)
    }
}

fn url_of(base: &str, how: &str, room: &RoomId, handler: &str) -> String {
    let room = utf8_percent_encode(room.as_str(), NON_ALPHANUMERIC);
    format!("{base}/restate/{how}/Room/{room}/{handler}")
}

/// Nobody has it, now or before.
fn unique_key() -> String {
    let (now, id) = (jiff::Timestamp::now().as_nanosecond(), std::process::id());
    format!("{now}-{id}-{:x}", std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), now))
}
