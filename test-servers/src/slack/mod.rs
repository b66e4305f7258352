//! A Slack on loopback, written from Slack's public documentation: Web API and Socket Mode, strict about what clients send.

mod methods;
mod sockets;
mod workspace;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, State, WebSocketUpgrade};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub use sockets::{Sockets, WarnedLines};
pub use workspace::{APP_TOKEN, BOT, BOT_TOKEN, Fault, TEAM, Workspace};

/// An envelope that is not acknowledged within this time is sent again: what Slack does, for lines that hang.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(3);
/// Longer than any line takes that does not hang.
const ACKNOWLEDGED_BY_ALL_WITHIN: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub struct SlackServer {
    pub address: SocketAddr,
    workspace: Arc<Mutex<Workspace>>,
    pub sockets: Arc<Sockets>,
    stop: CancellationToken,
}

impl SlackServer {
    pub async fn start() -> SlackServer {
        SlackServer::start_in_a_hurry(ACKNOWLEDGED_BY_ALL_WITHIN).await
    }

    /// With a shorter time for an acknowledgement.
    pub async fn start_in_a_hurry(acknowledged_within: Duration) -> SlackServer {
        SlackServer::start_at(Ipv4Addr::LOCALHOST.into(), acknowledged_within).await
    }

    /// On another address of this machine, for programs that are stopped.
    pub async fn start_on(ip: IpAddr) -> SlackServer {
        SlackServer::start_at(ip, ACKNOWLEDGED_WITHIN).await
    }

    async fn start_at(ip: IpAddr, acknowledged_within: Duration) -> SlackServer {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let server = SlackServer {
            address: listener.local_addr().unwrap(),
            workspace: Arc::new(Mutex::new(Workspace::new())),
            sockets: Arc::new(Sockets::new(acknowledged_within)),
            stop: CancellationToken::new(),
        };
        let router = Router::new()
            .route("/api/{method}", post(call).get(call))
            .route("/link", get(link))
            .route("/respond/{id}", post(respond))
            .with_state(server.clone());
        let stop = server.stop.clone();
        tokio::spawn(async move {
            axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await.unwrap();
        });
        server
    }

    pub fn api_url(&self) -> String {
        format!("http://{}/api", self.address)
    }

    pub fn workspace(&self) -> MutexGuard<'_, Workspace> {
        self.workspace.lock().unwrap()
    }

    /// Somebody says something; returns its time stamp.
    pub fn say(&self, channel: &str, user: &str, text: &str) -> String {
        self.say_in(channel, None, user, text)
    }

    pub fn say_in(&self, channel: &str, thread: Option<&str>, user: &str, text: &str) -> String {
        let (ts, events) = self.workspace().say(channel, thread, json!({"user": user, "text": text}));
        events.into_iter().for_each(|event| self.happens(event));
        ts
    }

    /// A message without an event.
    pub fn say_unheard(&self, channel: &str, thread: Option<&str>, user: &str, text: &str) -> String {
        self.workspace().say(channel, thread, json!({"user": user, "text": text})).0
    }

    /// Sends an event to the app.
    pub fn happens(&self, event: Value) {
        let payload = self.workspace().wrap(event);
        self.sockets.deliver("events_api", payload);
    }

    pub fn edit(&self, channel: &str, ts: &str, text: &str) {
        let event = self.workspace().edit(channel, ts, text);
        self.happens(event);
    }

    pub fn delete(&self, channel: &str, ts: &str) {
        let event = self.workspace().delete(channel, ts);
        self.happens(event);
    }

    pub fn react(&self, channel: &str, ts: &str, user: &str, name: &str, kind: &str) {
        let at = self.workspace().next_ts();
        let item = json!({"type": "message", "channel": channel, "ts": ts});
        self.happens(json!({"type": kind, "user": user, "reaction": name, "item": item, "event_ts": at}));
    }

    pub fn order(&self, channel: &str, user: &str, text: &str) {
        let payload = json!({
            "token": "verification", "team_id": TEAM, "team_domain": "tea", "channel_id": channel,
            "channel_name": "general", "user_id": user, "user_name": "x", "command": "/aizuchi", "text": text,
            "api_app_id": "A1", "is_enterprise_install": "false", "trigger_id": "1.2.3",
            "response_url": format!("http://{}/respond/{}", self.address, self.workspace().next_ts()),
        });
        self.sockets.deliver("slash_commands", payload);
    }
}

async fn call(
    State(server): State<SlackServer>,
    Path(method): Path<String>,
    headers: HeaderMap,
    query: Query<Vec<(String, String)>>,
    body: String,
) -> Response {
    let answered = methods::call(&server, &method, &headers, query.0, &body);
    match answered {
        methods::Answer::Json { body, scopes } => {
            ([("x-oauth-scopes", scopes), ("content-type", "application/json".into())], body.to_string())
                .into_response()
        }
        methods::Answer::Limited { seconds } => (
            StatusCode::TOO_MANY_REQUESTS,
            [("retry-after", seconds.to_string())],
            json!({"ok": false, "error": "ratelimited"}).to_string(),
        )
            .into_response(),
        methods::Answer::Broken { status } => {
            (StatusCode::from_u16(status).unwrap(), "<html>oops</html>").into_response()
        }
        // The connection breaks in the middle of the response.
        methods::Answer::Cut => {
            let broken = futures_util::stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("cut"))]);
            Body::from_stream(broken).into_response()
        }
    }
}

async fn link(
    State(server): State<SlackServer>,
    query: Query<Vec<(String, String)>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let ticket = query.0.iter().find(|(name, _)| name == "ticket").map(|(_, ticket)| ticket.clone());
    if !ticket.is_some_and(|ticket| server.workspace().tickets.remove(&ticket)) {
        return (StatusCode::FORBIDDEN, "a ticket is good once").into_response();
    }
    upgrade.on_upgrade(move |socket| async move { server.sockets.serve(socket).await })
}

async fn respond(State(server): State<SlackServer>, headers: HeaderMap, body: String) -> Response {
    if headers.contains_key("authorization") {
        return (StatusCode::BAD_REQUEST, "a token has no business here").into_response();
    }
    match serde_json::from_str(&body) {
        Ok(answer) => {
            server.workspace().answers.push(answer);
            "ok".into_response()
        }
        Err(_) => (StatusCode::BAD_REQUEST, "invalid_payload").into_response(),
    }
}
