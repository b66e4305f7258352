//! The gateway: HELLO, IDENTIFY, READY, heartbeats, RESUME, and the close codes for those who break its rules.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use flate2::{Compress, Compression, FlushCompress};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::Shared;
use super::world::{BOT, MESSAGE_CONTENT, Order, Session, bot};

/// Intents that have to be granted, and all there are.
const GUILD_MEMBERS: u64 = 1 << 1;
const PRESENCES: u64 = 1 << 8;
const ALL_INTENTS: u64 = (1 << 26) - 1;
const PAYLOAD_BYTES_MAX: usize = 4096;

#[derive(serde::Deserialize)]
pub struct GatewayQuery {
    #[serde(default)]
    compress: String,
    #[serde(default)]
    v: String,
}

pub async fn enter(
    State(world): State<Shared>,
    Query(wishes): Query<GatewayQuery>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let told = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let turned_away = world.with(|world| {
        world.visitors.push((told("host"), told("user-agent")));
        let is_turned_away = world.turned_away > 0;
        world.turned_away = world.turned_away.saturating_sub(1);
        is_turned_away
    });
    if turned_away {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    }
    upgrade.on_upgrade(move |socket| async move {
        let (line, orders) = mpsc::unbounded_channel();
        let stream = (wishes.compress == "zlib-stream").then(|| Compress::new(Compression::default(), true));
        let connection = Connection { socket, stream, world, line, session: None };
        let version = wishes.v;
        connection.attend(orders, &version).await;
    })
}

struct Connection {
    socket: WebSocket,
    stream: Option<Compress>,
    world: Shared,
    line: mpsc::UnboundedSender<Order>,
    session: Option<String>,
}

/// Why a connection ends.
enum CloseReason {
    Close(u16, &'static str),
    Gone,
}

impl Connection {
    async fn attend(mut self, mut orders: mpsc::UnboundedReceiver<Order>, version: &str) {
        let end = if version == "10" { self.talk(&mut orders).await } else { CloseReason::Close(4012, "") };
        if let Some(session) = &self.session {
            self.world.with(|world| {
                if let Some(session) = world.sessions.get_mut(session) {
                    session.line = None;
                }
            });
        }
        if let CloseReason::Close(code, reason) = end {
            self.world.with(|world| world.closed_with.push(code));
            let frame = CloseFrame { code, reason: reason.into() };
            let _ = self.socket.send(Message::Close(Some(frame))).await;
            // The other side closes too.
            let _ = tokio::time::timeout(Duration::from_secs(1), async {
                while let Some(Ok(_)) = self.socket.recv().await {}
            })
            .await;
        }
    }

    async fn talk(&mut self, orders: &mut mpsc::UnboundedReceiver<Order>) -> CloseReason {
        let interval = self.world.with(|world| world.heartbeat_ms);
        let hello = json!({"op": 10, "s": null, "t": null, "d": {"heartbeat_interval": interval, "_trace": []}});
        if self.send(&hello).await.is_err() {
            return CloseReason::Gone;
        }
        // A little late is forgiven.
        let patience = Duration::from_millis(interval + interval / 2);
        let mut due = Instant::now() + patience;
        loop {
            let said = tokio::select! {
                said = self.socket.recv() => said,
                order = orders.recv() => match order.expect("we hold a sender") {
                    Order::Send(event) => {
                        if self.send(&event).await.is_err() {
                            return CloseReason::Gone;
                        }
                        continue;
                    }
                    Order::Close(code) => return CloseReason::Close(code, ""),
                    Order::CloseSaying(code, reason) => return CloseReason::Close(code, reason),
                    Order::Cut => return CloseReason::Gone,
                },
                () = tokio::time::sleep_until(due) => return CloseReason::Close(4009, ""),
            };
            let text = match said {
                Some(Ok(Message::Text(text))) => text.to_string(),
                Some(Ok(Message::Binary(bytes))) => String::from_utf8_lossy(&bytes).into_owned(),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => continue,
                Some(Ok(Message::Close(_)) | Err(_)) | None => return CloseReason::Gone,
            };
            if text.len() > PAYLOAD_BYTES_MAX {
                return CloseReason::Close(4002, "");
            }
            let Ok(payload) = serde_json::from_str::<Value>(&text) else { return CloseReason::Close(4002, "") };
            let done = match payload["op"].as_u64() {
                Some(1) => {
                    due = Instant::now() + patience;
                    let answers = self.world.with(|world| {
                        world.heartbeats += 1;
                        world.answers_heartbeats
                    });
                    let answer = json!({"op": 11, "s": null, "t": null, "d": null});
                    if answers { self.send(&answer).await } else { Ok(()) }
                }
                Some(2) => self.identify(&payload["d"]).await,
                Some(6) => self.resume(&payload["d"]).await,
                Some(3 | 4 | 8) if self.session.is_none() => Err(CloseReason::Close(4003, "")),
                Some(3 | 4 | 8) => Ok(()),
                _ => Err(CloseReason::Close(4001, "")),
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    async fn identify(&mut self, data: &Value) -> Result<(), CloseReason> {
        if self.session.is_some() {
            return Err(CloseReason::Close(4005, ""));
        }
        let token = data["token"].as_str().unwrap_or_default().trim_start_matches("Bot ").to_owned();
        let Some(intents) = data["intents"].as_u64() else { return Err(CloseReason::Close(4013, "")) };
        if !data["properties"].is_object() {
            return Err(CloseReason::Close(4002, ""));
        }
        let shard = match data["shard"].as_array().map(Vec::as_slice) {
            None => (0, 1),
            Some([number, total]) => (number.as_u64().unwrap_or(1), total.as_u64().unwrap_or(0)),
            Some(_) => (1, 0),
        };
        let granted = self.world.with(|world| {
            let privileged =
                GUILD_MEMBERS | PRESENCES | if world.message_content_granted { 0 } else { MESSAGE_CONTENT };
            if token != world.token {
                return Err(4004);
            } else if intents & !ALL_INTENTS != 0 {
                return Err(4013);
            } else if intents & privileged != 0 {
                return Err(4014);
            } else if shard.0 >= shard.1 {
                return Err(4010);
            }
            world.identified += 1;
            let id = format!("{:016x}", world.snowflake());
            let mut session = Session { intents, shard, seq: 0, log: Vec::new(), line: Some(self.line.clone()) };
            let guilds = if session.has(super::GUILD) {
                json!([{"id": world.guild["id"], "unavailable": true}])
            } else {
                json!([])
            };
            let ready = json!({"v": 10, "user": bot(), "session_id": id, "shard": [shard.0, shard.1],
                "resume_gateway_url": format!("ws://{}:{}", world.resume_host, world.port), "private_channels": [],
                "guilds": guilds,
                "application": {"id": BOT.to_string(), "flags": 1 << 19}});
            session.tell("READY", ready);
            if session.has(super::GUILD) {
                session.tell("GUILD_CREATE", world.guild_now());
            }
            world.sessions.insert(id.clone(), session);
            Ok(id)
        });
        self.session = Some(granted.map_err(|code| CloseReason::Close(code, ""))?);
        Ok(())
    }

    async fn resume(&mut self, data: &Value) -> Result<(), CloseReason> {
        if self.session.is_some() {
            return Err(CloseReason::Close(4005, ""));
        }
        let id = data["session_id"].as_str().unwrap_or_default().to_owned();
        let token = data["token"].as_str().unwrap_or_default().trim_start_matches("Bot ").to_owned();
        let Some(seq) = data["seq"].as_u64() else { return Err(CloseReason::Close(4007, "")) };
        let line = self.line.clone();
        let resumed = self.world.with(|world| {
            if token != world.token {
                return Err(4004);
            }
            let Some(session) = world.sessions.get_mut(&id) else { return Ok(None) };
            if seq > session.seq {
                return Err(4007);
            }
            let missed = session.log.iter().filter(|event| event["s"].as_u64() > Some(seq)).cloned();
            missed.for_each(|event| line.send(Order::Send(event)).unwrap());
            session.line = Some(line);
            session.tell("RESUMED", json!({"_trace": []}));
            world.resumed += 1;
            Ok(Some(()))
        });
        match resumed.map_err(|code| CloseReason::Close(code, ""))? {
            Some(()) => self.session = Some(id),
            None => self.send(&json!({"op": 9, "s": null, "t": null, "d": false})).await?,
        }
        Ok(())
    }

    async fn send(&mut self, event: &Value) -> Result<(), CloseReason> {
        let text = event.to_string();
        let message = match &mut self.stream {
            None => Message::Text(text.into()),
            Some(stream) => {
                let mut bytes = Vec::with_capacity(text.len() + 64);
                stream.compress_vec(text.as_bytes(), &mut bytes, FlushCompress::Sync).unwrap();
                assert!(bytes.ends_with(&[0, 0, 0xff, 0xff]), "the frame is whole");
                Message::Binary(bytes.into())
            }
        };
        self.socket.send(message).await.map_err(|_| CloseReason::Gone)
    }
}
