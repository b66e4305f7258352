//! Talks to a Restate server: tells rooms what happened, and asks how it is.

use std::collections::HashMap;
use std::time::Duration;

use aizuchi_core::types::RoomId;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

use super::endpoints::{Endpoints, without_logins};
use super::room::{Forgetting, RoomBill};
use super::state::{RoomState, Stamped};
use crate::ports::UnrecordedInputs;
use crate::tls::client_builder;

/// How long it may take to connect; a server that is gone is noticed by it.
const CONNECTS_WITHIN: Duration = Duration::from_secs(2);

/// Cheap to clone. What it asks may be asked twice: an address that does not answer in time may have done it.
#[derive(Clone)]
pub struct RestateClient {
    ingress: Endpoints,
    pub(super) admin: Endpoints,
    /// Speaks to workers as the server does.
    pub(super) to_workers: reqwest::Client,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestateError {
    #[error("Restate does not answer: {0}")]
    Unavailable(String),
    #[error("Restate refused: {0}")]
    Refused(String),
}

impl RestateError {
    /// What happened, where it is clear to whom.
    pub fn why(&self) -> &str {
        match self {
            RestateError::Unavailable(why) | RestateError::Refused(why) => why,
        }
    }
}

/// Each address of Restate, and whether it answers.
pub struct RestateHealth {
    pub ingress: Vec<(String, Result<(), RestateError>)>,
    pub admin: Vec<(String, Result<(), RestateError>)>,
}

/// Something that cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct StuckInvocation {
    pub service: String,
    /// The room; none of a call.
    #[serde(default)]
    room: Option<String>,
    /// Of a call: its room and its number there.
    #[serde(default)]
    key: Option<String>,
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

    /// The room, or the call with its room.
    pub fn whose(&self) -> &str {
        self.room.as_deref().or(self.key.as_deref()).unwrap_or_default()
    }
}

/// As many of them are looked at.
pub const STUCK_MAX: usize = 100;
/// Those that need help come first.
const STUCK: &str = "SELECT target_service_name AS service, target_service_key AS room, idempotency_key AS key, status,
    retry_count AS attempts, last_failure AS error FROM sys_invocation WHERE status IN ('backing-off', 'paused')
    ORDER BY CASE WHEN status = 'paused' THEN 0 ELSE 1 END, coalesce(retry_count, 0) DESC, modified_at LIMIT 100";
/// What is sent to rooms: no timers, which may be for next year, and no requests to forget.
const UNHEARD: &str = "FROM sys_invocation WHERE target_service_name = 'Room' AND target_handler_name = 'handle'
    AND status NOT IN ('completed', 'scheduled')";
/// What Restate has given up until somebody says that it may go on.
const PAUSED: &str = "SELECT id FROM sys_invocation WHERE status = 'paused' ORDER BY modified_at";

impl RestateClient {
    /// Each is one URL, or several with commas between them. `Err` if there can be no client at all.
    pub fn new(ingress: &str, admin: &str) -> Result<RestateClient, RestateError> {
        let client = || client_builder().tcp_nodelay(true).no_proxy().connect_timeout(CONNECTS_WITHIN);
        let failed = |error: reqwest::Error| RestateError::Unavailable(error.to_string());
        let (http, to_workers) =
            (client().build().map_err(failed)?, client().http2_prior_knowledge().pool_max_idle_per_host(0));
        Ok(RestateClient {
            ingress: Endpoints::new(http.clone(), ingress),
            admin: Endpoints::new(http, admin),
            to_workers: to_workers.build().map_err(failed)?,
        })
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
    pub async fn pay(&self, room: &RoomId, bill: &RoomBill) -> Result<bool, RestateError> {
        let key = unique_key();
        let paid = self
            .ingress
            .ask(|http, base| http.post(url_of(base, "call", room, "pay")).header("idempotency-key", &key).json(bill));
        serde_json::from_slice(&paid.await?).map_err(|error| RestateError::Refused(error.to_string()))
    }

    /// Tells a room to forget somebody. Returns when that is durable; it happens once for a key.
    pub async fn tell_to_forget(&self, room: &RoomId, key: &str, told: &Forgetting) -> Result<(), RestateError> {
        let request = |http: &reqwest::Client, base: &str| {
            http.post(url_of(base, "send", room, "forget")).header("idempotency-key", key).json(told)
        };
        self.ingress.hand_over(request).await.map(drop)
    }

    /// The same, and returns when the room has forgotten them.
    pub async fn forget(&self, room: &RoomId, key: &str, told: &Forgetting) -> Result<(), RestateError> {
        let request = |http: &reqwest::Client, base: &str| {
            http.post(url_of(base, "call", room, "forget")).header("idempotency-key", key).json(told)
        };
        self.ingress.ask(request).await.map(drop)
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

    /// Whether it has the state of this room, or something that is to happen there: a room that was recorded for the first time has no
    /// state until that is over.
    pub async fn has_room(&self, room: &RoomId) -> Result<bool, RestateError> {
        let name = room.as_str().replace('\'', "''");
        let state = format!("SELECT 1 FROM state WHERE service_name = 'Room' AND service_key = '{name}' LIMIT 1");
        if !self.query(&state).await?.is_empty() {
            return Ok(true);
        }
        let begun = format!(
            "SELECT id FROM sys_invocation WHERE target_service_name = 'Room' AND target_service_key = '{name}'
            AND status <> 'completed' LIMIT 1"
        );
        Ok(!self.query(&begun).await?.is_empty())
    }

    /// When the newest of what was sent to rooms and is not handled was accepted; `None` if they have handled all of it.
    pub async fn last_unheard(&self) -> Result<Option<String>, RestateError> {
        let rows = self.query(&format!("SELECT CAST(max(created_at) AS VARCHAR) AS last {UNHEARD}")).await?;
        Ok(rows.first().and_then(|row| row["last"].as_str()).map(str::to_owned))
    }

    /// How much of what was accepted until then they have not handled.
    pub async fn count_unheard(&self, until: &str) -> Result<u64, RestateError> {
        let count = format!("SELECT count(*) AS number {UNHEARD} AND created_at <= CAST('{until}' AS TIMESTAMP)");
        let rows = self.query(&count).await?;
        rows.first().and_then(|row| row["number"].as_u64()).ok_or_else(|| RestateError::Refused("no number".into()))
    }

    /// The rooms of a platform that have not handled everything that was sent to them.
    pub async fn unheard_rooms(&self, platform: &str) -> Result<HashMap<RoomId, UnrecordedInputs>, RestateError> {
        let query = format!(
            "SELECT target_service_key AS room, CAST(min(created_at) AS VARCHAR) AS oldest,
            CAST(max(created_at) AS VARCHAR) AS newest {UNHEARD} AND starts_with(target_service_key, '{platform}:')
            GROUP BY target_service_key"
        );
        let rows = self.query(&query).await?;
        let read = |row: &Value| {
            let text = |name: &str| row[name].as_str().map(str::to_owned);
            Some((RoomId::new(text("room")?), UnrecordedInputs { oldest: text("oldest")?, newest: text("newest")? }))
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    /// What fails and is tried again, or has been given up.
    pub async fn stuck(&self) -> Result<Vec<StuckInvocation>, RestateError> {
        let rows = self.query(STUCK).await?;
        let read = |row| {
            let mut found: StuckInvocation =
                serde_json::from_value(row).map_err(|error| RestateError::Refused(error.to_string()))?;
            // It may repeat the address of a worker.
            found.error = found.error.as_deref().map(without_logins);
            Ok(found)
        };
        rows.into_iter().map(read).collect()
    }

    /// Has everything go on that Restate has paused. Returns how many invocations that were.
    pub async fn resume_paused(&self) -> Result<usize, RestateError> {
        let paused = self.query(PAUSED).await?;
        let ids: Vec<&str> = paused.iter().filter_map(|row| row["id"].as_str()).collect();
        for id in &ids {
            let resumed = self.admin.ask(|http, base| http.patch(format!("{base}/invocations/{id}/resume"))).await;
            match resumed {
                // It has ended meanwhile, or somebody else was faster.
                Err(RestateError::Unavailable(told)) if told.starts_with("404") => (),
                Err(RestateError::Refused(told)) if told.starts_with("409") => (),
                resumed => drop(resumed?),
            }
        }
        Ok(ids.len())
    }

    /// How many nodes keep the metadata of the cluster; none if it does not say.
    pub async fn metadata_members(&self) -> Result<Option<usize>, RestateError> {
        let answer = self.admin.ask(|http, base| http.get(format!("{base}/cluster-health"))).await?;
        let answer: Value =
            serde_json::from_slice(&answer).map_err(|error| RestateError::Refused(error.to_string()))?;
        Ok(answer["metadata_cluster_health"]["members"].as_array().map(Vec::len))
    }

    pub async fn health(&self) -> RestateHealth {
        let checked = tokio::join!(self.ingress.check_each("/restate/health"), self.admin.check_each("/health"));
        RestateHealth { ingress: checked.0, admin: checked.1 }
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
pub(super) fn unique_key() -> String {
    let (now, id) = (jiff::Timestamp::now().as_nanosecond(), std::process::id());
    format!("{now}-{id}-{:x}", std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), now))
}
