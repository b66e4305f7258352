//! One connection to Discord's gateway, from hello to its end.
//!
//! After `HELLO` it sends `IDENTIFY`, or `RESUME` if there is a session: then Discord sends again what was missed since
//! `sequence`, and nothing has to be fetched. A heartbeat is sent at the interval that Discord specifies, the first after a
//! random part of it; if nothing arrived since the last one, the connection is dead and is closed so that the session stays
//! open (code 4000). How it ends decides what the next one does ([`DisconnectReason`]): resume; identify again, after an
//! invalid session, codes 4007 and 4009, or three failed attempts to resume; or give up, if only a person can help (a wrong
//! token, a missing intent). Identifying is queued, as Discord limits it per day and per five seconds. The client is our
//! own because no library lets us set the headers of the socket and the URL at which a session is resumed.

use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::gateway::GatewayPlan;
use super::interaction::Interactions;
use super::platform::{Discord, GatewayState};
use super::read::{bits, text};
use crate::platforms::backoff::share_of;
use crate::platforms::web_socket::{self, Socket};

/// A large guild is sent in one message.
const MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;
const HELLO_WITHIN: Duration = Duration::from_secs(20);
const SENDS_WITHIN: Duration = Duration::from_secs(10);
const GOODBYE: Duration = Duration::from_millis(500);
/// The allowed range of the heartbeat interval, whatever a server sends.
const BEATS_MS: std::ops::RangeInclusive<u64> = 100..=600_000;

/// Opcodes of payloads.
const DISPATCH: u64 = 0;
const HEARTBEAT: u64 = 1;
const IDENTIFY: u64 = 2;
const RESUME: u64 = 6;
const RECONNECT: u64 = 7;
const INVALID_SESSION: u64 = 9;
const HELLO: u64 = 10;

/// Discord keeps a session that is closed with this code.
const LEAVES_SESSION_OPEN: u16 = 4000;
/// Closing with this code ends the session.
const ENDS_SESSION: u16 = 1000;
/// Discord has ended the session itself.
const SESSION_OVER: [u16; 2] = [4007, 4009];
/// Only a person can fix these.
const FOR_GOOD: [u16; 6] = [4004, 4010, 4011, 4012, 4013, 4014];

/// Failed attempts to resume before a new session is started.
const RESUMES_MAX: u32 = 3;

/// What is needed to resume a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewaySession {
    id: String,
    sequence: u64,
    /// The URL at which Discord wants it to be resumed.
    url: Option<String>,
    attempts: u32,
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    Stopped,
    /// Permanently, with Discord's own words.
    Dismissed {
        code: u16,
        reason: String,
    },
    Lost {
        code: Option<u16>,
        reason: String,
    },
}

impl DisconnectReason {
    fn lost(reason: impl Into<String>) -> DisconnectReason {
        DisconnectReason::Lost { code: None, reason: reason.into() }
    }
}

/// One of the connections, and the state it keeps between attempts.
pub struct Connection<'a> {
    pub discord: &'a Discord,
    pub plan: &'a GatewayPlan,
    pub number: u32,
    pub interactions: &'a Interactions,
    /// Receives the events.
    pub events: &'a mpsc::Sender<String>,
    pub stop: &'a CancellationToken,
    pub session: &'a mut Option<GatewaySession>,
}

/// The envelope of every payload.
#[derive(Deserialize)]
struct Envelope<'t> {
    op: u64,
    #[serde(default)]
    s: Option<u64>,
    #[serde(default, borrow)]
    t: Option<std::borrow::Cow<'t, str>>,
}

/// An open socket and its heartbeat.
struct LiveSocket {
    socket: Socket,
    every: Duration,
    next: Instant,
    /// Whether anything arrived since the last heartbeat.
    answered: bool,
    /// Resolves when it may identify.
    turn: Option<oneshot::Receiver<()>>,
    /// Since when the session has been active.
    active: Option<Instant>,
}

impl Connection<'_> {
    /// Returns how it ended, and how long it was active: `None` if Discord never accepted it.
    pub async fn run(mut self) -> (DisconnectReason, Option<Duration>) {
        let url = self.url();
        let opened = tokio::select! {
            opened = web_socket::open(&self.plan.client, &url, MESSAGE_BYTES_MAX) => opened,
            () = self.stop.cancelled() => return (DisconnectReason::Stopped, None),
        };
        let socket = match opened {
            Ok(socket) => socket,
            Err(why) => {
                // It may still be possible to resume at the default URL.
                self.session.iter_mut().for_each(|session| session.url = None);
                return (DisconnectReason::lost(why), None);
            }
        };
        let now = Instant::now();
        let every = HELLO_WITHIN;
        let mut pulse = LiveSocket { socket, every, next: now + every, answered: true, turn: None, active: None };
        let ending = match self.greet(&mut pulse).await {
            Ok(()) => self.listen(&mut pulse).await,
            Err(ending) => ending,
        };
        self.leave(&mut pulse, &ending).await;
        (ending, pulse.active.map(|since| since.elapsed()))
    }

    fn url(&self) -> String {
        let resumed_at = self.session.as_ref().and_then(|session| session.url.as_deref());
        let url = resumed_at.filter(|_| !self.plan.by_hand).unwrap_or(&self.plan.url);
        format!("{}/?v=10&encoding=json", url.trim_end_matches('/'))
    }

    /// Waits for the hello, and resumes or queues to identify.
    async fn greet(&mut self, pulse: &mut LiveSocket) -> Result<(), DisconnectReason> {
        let hello = tokio::select! {
            hello = timeout(HELLO_WITHIN, next(&mut pulse.socket)) => {
                hello.map_err(|_| DisconnectReason::lost("no hello"))??
            }
            () = self.stop.cancelled() => return Err(DisconnectReason::Stopped),
        };
        let hello: Value = serde_json::from_str(&hello).unwrap_or_default();
        if bits(&hello, "op") != HELLO {
            return Err(DisconnectReason::lost("expected hello first"));
        }
        // Messages sent until now are late because of us.
        self.discord.clock.note_return();
        let interval = hello.get("d").map_or(0, |data| bits(data, "heartbeat_interval"));
        pulse.every = Duration::from_millis(interval.clamp(*BEATS_MS.start(), *BEATS_MS.end()));
        // Jitter, so that not all clients send their heartbeat at the same instant.
        pulse.next = Instant::now() + share_of(pulse.every);
        let token = self.plan.token();
        self.session.take_if(|session| session.attempts >= RESUMES_MAX);
        match self.session {
            Some(session) => {
                session.attempts += 1;
                let GatewaySession { id, sequence, .. } = session;
                let resume = json!({"op": RESUME, "d": {"token": token, "session_id": id, "seq": sequence}});
                send(&mut pulse.socket, &resume).await
            }
            None => {
                pulse.turn = Some(self.plan.queue.enqueue(self.number));
                Ok(())
            }
        }
    }

    /// Runs until the connection ends.
    async fn listen(&mut self, pulse: &mut LiveSocket) -> DisconnectReason {
        loop {
            let done = tokio::select! {
                told = next(&mut pulse.socket) => match told {
                    Ok(told) => {
                        pulse.answered = true;
                        self.take(pulse, told).await
                    }
                    Err(ending) => Err(self.after_close(ending)),
                },
                () = sleep_until(pulse.next) => self.beat(pulse).await,
                granted = wait_for_turn(&mut pulse.turn) => match granted {
                    Ok(()) => self.identify(pulse).await,
                    // The queue asks to enqueue again.
                    Err(_) => {
                        pulse.turn = Some(self.plan.queue.enqueue(self.number));
                        Ok(())
                    }
                },
                () = self.stop.cancelled() => Err(DisconnectReason::Stopped),
            };
            if let Err(ending) = done {
                return ending;
            }
        }
    }

    async fn beat(&self, pulse: &mut LiveSocket) -> Result<(), DisconnectReason> {
        if !pulse.answered {
            return Err(DisconnectReason::lost("no answer to the last heartbeat"));
        }
        pulse.answered = false;
        pulse.next = Instant::now() + pulse.every;
        self.send_beat(pulse).await
    }

    async fn send_beat(&self, pulse: &mut LiveSocket) -> Result<(), DisconnectReason> {
        let sequence = self.session.as_ref().map(|session| session.sequence);
        send(&mut pulse.socket, &json!({"op": HEARTBEAT, "d": sequence})).await
    }

    async fn identify(&self, pulse: &mut LiveSocket) -> Result<(), DisconnectReason> {
        pulse.turn = None;
        let properties = json!({"os": std::env::consts::OS, "browser": "aizuchi", "device": "aizuchi"});
        let identify = json!({"op": IDENTIFY, "d": {
            "token": self.plan.token(), "properties": properties, "compress": false, "large_threshold": 50,
            "shard": [self.number, self.plan.shards], "intents": super::gateway::INTENTS,
        }});
        send(&mut pulse.socket, &identify).await
    }

    /// Handles a payload: it is about the connection itself, or passed on.
    async fn take(&mut self, pulse: &mut LiveSocket, told: String) -> Result<(), DisconnectReason> {
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(&told) else {
            debug!("skipped an unreadable payload");
            return Ok(());
        };
        match envelope.op {
            DISPATCH => {
                let (kind, sequence) = (envelope.t.unwrap_or_default().into_owned(), envelope.s);
                self.count(pulse, &kind, sequence, &told);
                self.hand_on(told).await
            }
            HEARTBEAT => self.send_beat(pulse).await,
            RECONNECT => Err(DisconnectReason::lost("Discord requested a reconnect")),
            INVALID_SESSION => {
                let payload: Value = serde_json::from_str(&told).unwrap_or_default();
                if payload.get("d").and_then(Value::as_bool) != Some(true) {
                    *self.session = None;
                }
                Err(DisconnectReason::lost("Discord invalidated the session"))
            }
            _ => Ok(()),
        }
    }

    /// Updates the position in the session.
    fn count(&mut self, pulse: &mut LiveSocket, kind: &str, sequence: Option<u64>, told: &str) {
        if kind == "READY" {
            let ready: Value = serde_json::from_str(told).unwrap_or_default();
            let data = ready.get("d").unwrap_or(&Value::Null);
            let url = text(data, "resume_gateway_url").filter(|url| !url.is_empty()).map(str::to_owned);
            *self.session = text(data, "session_id").map(|id| GatewaySession {
                id: id.to_owned(),
                sequence: sequence.unwrap_or(0),
                url,
                attempts: 0,
            });
        }
        if let (Some(session), Some(sequence)) = (self.session.as_mut(), sequence) {
            session.sequence = sequence;
        }
        if matches!(kind, "READY" | "RESUMED") {
            self.session.iter_mut().for_each(|session| session.attempts = 0);
            pulse.active = Some(Instant::now());
            self.discord.rest.token_works();
            self.discord.state.send_replace(GatewayState::Connected);
        }
    }

    /// If the queue is full, the connection waits too; if Discord closes it meanwhile, it is resumed.
    async fn hand_on(&self, told: String) -> Result<(), DisconnectReason> {
        self.interactions.serve(&told);
        let sent = tokio::select! {
            sent = self.events.send(told) => sent.is_ok(),
            () = self.stop.cancelled() => false,
        };
        if sent { Ok(()) } else { Err(DisconnectReason::Stopped) }
    }

    /// What Discord's close code means for the session.
    fn after_close(&mut self, ending: DisconnectReason) -> DisconnectReason {
        match ending {
            DisconnectReason::Lost { code: Some(code), reason } if FOR_GOOD.contains(&code) => {
                DisconnectReason::Dismissed { code, reason }
            }
            DisconnectReason::Lost { code: Some(code), .. } if SESSION_OVER.contains(&code) => {
                *self.session = None;
                ending
            }
            DisconnectReason::Lost { .. } | DisconnectReason::Dismissed { .. } | DisconnectReason::Stopped => ending,
        }
    }

    /// Closes the connection. After a permanent stop the bot must not appear online.
    async fn leave(&self, pulse: &mut LiveSocket, ending: &DisconnectReason) {
        let code = match ending {
            DisconnectReason::Lost { code: Some(_), .. } | DisconnectReason::Dismissed { .. } => None,
            DisconnectReason::Stopped => Some(ENDS_SESSION),
            DisconnectReason::Lost { code: None, .. } if self.session.is_none() => Some(ENDS_SESSION),
            DisconnectReason::Lost { code: None, .. } => Some(LEAVES_SESSION_OPEN),
        };
        let socket = &mut pulse.socket;
        let goodbye = async {
            let frame = code.map(|code| CloseFrame { code: CloseCode::from(code), reason: "".into() });
            socket.close(frame).await?;
            while socket.next().await.transpose()?.is_some() {}
            Ok::<(), Error>(())
        };
        if timeout(GOODBYE, goodbye).await.is_err() {
            debug!("Discord closed without a close frame");
        }
    }
}

/// Resolves when it may identify, if it waits for that.
async fn wait_for_turn(turn: &mut Option<oneshot::Receiver<()>>) -> Result<(), oneshot::error::RecvError> {
    match turn {
        Some(turn) => turn.await,
        None => std::future::pending().await,
    }
}

/// The next text; `Err` is how the connection ended.
async fn next(socket: &mut Socket) -> Result<String, DisconnectReason> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => return Ok(text.as_str().to_owned()),
            Some(Ok(Message::Close(Some(frame)))) => {
                return Err(DisconnectReason::Lost {
                    code: Some(frame.code.into()),
                    reason: frame.reason.as_str().to_owned(),
                });
            }
            Some(Ok(Message::Close(None))) => return Err(DisconnectReason::lost("closed without a reason")),
            // Not requested: compressed payloads, and frames that the library answers by itself.
            Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => (),
            Some(Err(error)) => return Err(DisconnectReason::lost(error.to_string())),
            None => return Err(DisconnectReason::lost("the connection was lost")),
        }
    }
}

async fn send(socket: &mut Socket, payload: &Value) -> Result<(), DisconnectReason> {
    match timeout(SENDS_WITHIN, socket.send(Message::text(payload.to_string()))).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(DisconnectReason::lost(error.to_string())),
        Err(_) => Err(DisconnectReason::lost("cannot send on the connection")),
    }
}
