//! One Socket Mode connection to Slack: events are stored and then acknowledged; a silent connection is detected.
//!
//! Slack sends an event again until it is acknowledged. So everything that arrived together is written to the inbox in one
//! transaction, and only then acknowledged: a crash in between leads to a redelivery, which the inbox recognises by its
//! key. If the store refuses, nothing is acknowledged. The connection is pinged; if nothing arrives for too long it counts
//! as lost. Slack announces that it will close a connection (`disconnect`): the next one is opened first, and the old one
//! is read until it closes, so that nothing is missed in between (`connections.rs`).

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{ReadyChunks, SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::api::TokenKind;
use super::commands;
use super::envelope::{self, SocketFrame};
use super::errors::ApiError;
use super::inbox::{self, InboxArrival};
use super::listen::SlackContext;
use super::read::text;
use super::translate::SlackIdentity;
use crate::platforms::web_socket::{self, Socket};

/// How many frames are stored together.
const TOGETHER_MAX: usize = 256;
/// A larger frame ends the connection; one larger than an event can be is dropped long before that.
const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How long what has arrived on a lost connection may take to be read.
const REASON_WITHIN: Duration = Duration::from_secs(1);

/// An open connection.
pub struct SlackConnection {
    context: Arc<SlackContext>,
    me: Arc<SlackIdentity>,
    sink: SplitSink<Socket, Message>,
    frames: ReadyChunks<SplitStream<Socket>>,
    /// When Slack sent its hello.
    greeted: Option<Instant>,
    warned: bool,
    /// Resolves when another token holds than the one that it was opened with.
    other_token: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// Why a connection ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Slack will close it soon: another one should be open before that.
    Warned,
    /// Another token holds.
    Replaced,
    /// Too many connections are open with this token.
    Crowded,
    /// Only a person can help.
    Hopeless(String),
    Lost(String),
    Stopped,
}

/// Requests a URL and opens a connection to it.
pub async fn open(context: &Arc<SlackContext>, me: &Arc<SlackIdentity>) -> Result<SlackConnection, ApiError> {
    let api = &context.slack.api;
    let other_token = Box::pin(api.other_app_token());
    let answer = api.call_with(TokenKind::App, "apps.connections.open", &[]).await?.body;
    let url = text(&answer, "url").ok_or_else(|| ApiError::NoAnswer("the response has no WebSocket URL".into()))?;
    let socket = web_socket::open(api.client(), url, FRAME_BYTES_MAX).await.map_err(ApiError::NoAnswer)?;
    let (sink, frames) = socket.split();
    // Messages sent until now are late because of us.
    context.slack.clock.note_return();
    let (context, me) = (context.clone(), me.clone());
    let frames = frames.ready_chunks(TOGETHER_MAX);
    Ok(SlackConnection { context, me, sink, frames, greeted: None, warned: false, other_token })
}

impl SlackConnection {
    /// How long it has been usable; `None` if Slack never sent a hello.
    pub fn lived(&self) -> Option<Duration> {
        self.greeted.map(|since| since.elapsed())
    }

    /// Runs until the connection has to be replaced. After a warning it can be served until Slack closes it.
    pub async fn serve(&mut self) -> ConnectionEnd {
        let pace = self.context.slack.pace;
        let mut ping = interval(pace.ping_every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        let context = self.context.clone();
        loop {
            let frames = tokio::select! {
                frames = self.frames.next() => frames,
                _ = ping.tick() => {
                    if heard.elapsed() > pace.silent_max {
                        return ConnectionEnd::Lost("no ping within the timeout".into());
                    }
                    if let Err(lost) = self.send(vec![Message::Ping(Vec::new().into())]).await {
                        return self.reason_or(lost).await;
                    }
                    continue;
                }
                // What is not acknowledged by now is sent again on the next one.
                () = &mut self.other_token => {
                    let _ = timeout(Duration::from_secs(1), self.sink.close()).await;
                    return ConnectionEnd::Replaced;
                }
                () = context.stop.cancelled() => {
                    let _ = timeout(Duration::from_secs(1), self.sink.close()).await;
                    return ConnectionEnd::Stopped;
                }
            };
            heard = Instant::now();
            let Some(frames) = frames else { return ConnectionEnd::Lost("closed by Slack".into()) };
            match self.take(frames).await {
                None => (),
                Some(lost @ ConnectionEnd::Lost(_)) => return self.reason_or(lost).await,
                Some(end) => return end,
            }
        }
    }

    /// Nothing can be sent any more. Why Slack closed the connection may have arrived and not been read yet.
    async fn reason_or(&mut self, lost: ConnectionEnd) -> ConnectionEnd {
        while let Ok(Some(frames)) = timeout(REASON_WITHIN, self.frames.next()).await {
            match self.take(frames).await {
                None => (),
                Some(ConnectionEnd::Lost(_)) => break,
                Some(end) => return end,
            }
        }
        lost
    }

    /// Stores and acknowledges frames that arrived together.
    async fn take(&mut self, frames: Vec<Result<Message, Error>>) -> Option<ConnectionEnd> {
        let (mut arrivals, mut known, mut end) = (Vec::new(), Vec::new(), None);
        for frame in frames {
            let text = match frame {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(frame)) => {
                    let said = frame.map(|frame| format!(": {} {:?}", frame.code, frame.reason.as_str()));
                    let lost = || ConnectionEnd::Lost(format!("closed by Slack{}", said.unwrap_or_default()));
                    // Why Slack closes it came before.
                    end = Some(end.unwrap_or_else(lost));
                    continue;
                }
                Ok(_) => continue,
                Err(error) => {
                    end = Some(end.unwrap_or_else(|| ConnectionEnd::Lost(error.to_string())));
                    continue;
                }
            };
            match envelope::read(&text) {
                SocketFrame::Hello => self.greet(),
                SocketFrame::Disconnect { reason } => end = self.disconnect(&reason).or(end),
                SocketFrame::Event { envelope, payload } => {
                    arrivals.extend(InboxArrival::of_payload(&envelope, &payload, &self.context.slack.names));
                    known.push(envelope);
                }
                SocketFrame::Command { envelope, payload } => {
                    if commands::run(&self.context, &self.me, &envelope, payload).await {
                        known.push(envelope);
                    }
                }
                SocketFrame::Other { envelope } => known.push(envelope),
                SocketFrame::Nothing => (),
            }
        }
        metrics::counter!("aizuchi_slack_envelopes_total").increment(known.len() as u64);
        let at = self.context.slack.clock.now();
        if !arrivals.is_empty() {
            let stored = inbox::store(&*self.context.slack.stores.inbox, arrivals, at).await;
            if let Err(failed) = stored {
                // It was not acknowledged, so it is sent again, late because of us.
                self.context.slack.clock.note_return();
                tracing::error!(%failed, "cannot store a Slack event");
                return end;
            }
            self.context.arrived.notify_one();
        }
        let told = known.iter().map(|envelope| Message::text(envelope::acknowledgement(envelope))).collect();
        let unsent = self.send(told).await.err();
        end.or(unsent)
    }

    async fn send(&mut self, messages: Vec<Message>) -> Result<(), ConnectionEnd> {
        let sending = async {
            for message in messages {
                self.sink.feed(message).await?;
            }
            self.sink.flush().await
        };
        match timeout(self.context.slack.pace.silent_max, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(ConnectionEnd::Lost(error.to_string())),
            Err(_) => Err(ConnectionEnd::Lost("cannot send on the connection".into())),
        }
    }

    fn greet(&mut self) {
        if self.greeted.is_none() {
            self.greeted = Some(Instant::now());
            self.context.line_opened();
        }
    }

    fn disconnect(&mut self, reason: &str) -> Option<ConnectionEnd> {
        tracing::debug!(reason, "Slack is about to close a connection");
        match reason {
            "link_disabled" => Some(ConnectionEnd::Hopeless(super::errors::describe_error("link_disabled", None))),
            "too_many_websockets" => Some(ConnectionEnd::Crowded),
            // A repeated warning is ignored.
            _ if self.warned => None,
            _ => {
                self.warned = true;
                Some(ConnectionEnd::Warned)
            }
        }
    }
}

impl Drop for SlackConnection {
    fn drop(&mut self) {
        if self.greeted.is_some() {
            self.context.line_closed();
        }
    }
}
