//! One line to Slack: what comes through it is stored and then acknowledged; silence is noticed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{ReadyChunks, SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::api::With;
use super::commands;
use super::envelope::{self, Frame};
use super::inbox::{self, Arrival};
use super::listen::Desk;
use super::read::text;
use super::translate::Me;
use super::trouble::ApiError;
use crate::platforms::web_socket::{self, Socket};

/// Frames that are stored together.
const TOGETHER_MAX: usize = 256;
/// Larger ones end the line; what is larger than an event can be is let go long before.
const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A line that is open.
pub struct Line {
    desk: Arc<Desk>,
    me: Arc<Me>,
    sink: SplitSink<Socket, Message>,
    frames: ReadyChunks<SplitStream<Socket>>,
    /// When Slack said hello.
    greeted: Option<Instant>,
    warned: bool,
}

/// Why a line is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Slack will close it soon: another one should be open by then.
    Warned,
    /// Too many lines are open with this token.
    Crowded,
    /// Only a person can help.
    Hopeless(String),
    Lost(String),
    Stopped,
}

/// Asks for an address and opens a line to it.
pub async fn open(desk: &Arc<Desk>, me: &Arc<Me>) -> Result<Line, ApiError> {
    let api = &desk.slack.api;
    let answer = api.call_with(With::App, "apps.connections.open", &[]).await?.body;
    let url = text(&answer, "url").ok_or_else(|| ApiError::NoAnswer("it names no address".into()))?;
    let socket = web_socket::open(api.client(), url, FRAME_BYTES_MAX).await.map_err(ApiError::NoAnswer)?;
    let (sink, frames) = socket.split();
    // What was said until now comes late because of us.
    desk.slack.clock.note_return();
    let (desk, me) = (desk.clone(), me.clone());
    Ok(Line { desk, me, sink, frames: frames.ready_chunks(TOGETHER_MAX), greeted: None, warned: false })
}

impl Line {
    /// How long it has been of use; `None` if Slack never said hello.
    pub fn lived(&self) -> Option<Duration> {
        self.greeted.map(|since| since.elapsed())
    }

    /// Until the line has to be left. After a warning it can be served on, until Slack closes it.
    pub async fn serve(&mut self) -> End {
        let pace = self.desk.slack.pace;
        let mut ping = interval(pace.ping_every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard = Instant::now();
        let desk = self.desk.clone();
        loop {
            let frames = tokio::select! {
                frames = self.frames.next() => frames,
                _ = ping.tick() => {
                    if heard.elapsed() > pace.silent_max {
                        return End::Lost("it was silent for too long".into());
                    }
                    if let Err(end) = self.send(vec![Message::Ping(Vec::new().into())]).await {
                        return end;
                    }
                    continue;
                }
                () = desk.stop.cancelled() => {
                    let _ = timeout(Duration::from_secs(1), self.sink.close()).await;
                    return End::Stopped;
                }
            };
            heard = Instant::now();
            let Some(frames) = frames else { return End::Lost("it was closed".into()) };
            if let Some(end) = self.take(frames).await {
                return end;
            }
        }
    }

    /// Stores and acknowledges what came together.
    async fn take(&mut self, frames: Vec<Result<Message, Error>>) -> Option<End> {
        let (mut arrivals, mut known, mut end) = (Vec::new(), Vec::new(), None);
        for frame in frames {
            let text = match frame {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(frame)) => {
                    let said = frame.map(|frame| format!(": {} {:?}", frame.code, frame.reason.as_str()));
                    end = Some(End::Lost(format!("Slack closed it{}", said.unwrap_or_default())));
                    continue;
                }
                Ok(_) => continue,
                Err(error) => {
                    end = Some(End::Lost(error.to_string()));
                    continue;
                }
            };
            match envelope::read(&text) {
                Frame::Hello => self.greet(),
                Frame::Disconnect { reason } => end = self.disconnect(&reason).or(end),
                Frame::Event { envelope, payload } => {
                    arrivals.extend(Arrival::of_payload(&envelope, &payload, &self.desk.slack.names));
                    known.push(envelope);
                }
                Frame::Command { envelope, payload } => {
                    if commands::run(&self.desk, &self.me, &envelope, payload).await {
                        known.push(envelope);
                    }
                }
                Frame::Other { envelope } => known.push(envelope),
                Frame::Nothing => (),
            }
        }
        metrics::counter!("aizuchi_slack_envelopes_total").increment(known.len() as u64);
        let at = self.desk.slack.clock.now();
        if !arrivals.is_empty() {
            let stored = inbox::store(&*self.desk.slack.stores.inbox, arrivals, at).await;
            if let Err(failed) = stored {
                // Not acknowledged, it comes again, late because of us.
                self.desk.slack.clock.note_return();
                tracing::error!(%failed, "can not store what came from Slack");
                return end;
            }
            self.desk.arrived.notify_one();
        }
        let told = known.iter().map(|envelope| Message::text(envelope::acknowledgement(envelope))).collect();
        self.send(told).await.err().or(end)
    }

    async fn send(&mut self, messages: Vec<Message>) -> Result<(), End> {
        let sending = async {
            for message in messages {
                self.sink.feed(message).await?;
            }
            self.sink.flush().await
        };
        match timeout(self.desk.slack.pace.silent_max, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(End::Lost(error.to_string())),
            Err(_) => Err(End::Lost("nothing can be sent".into())),
        }
    }

    fn greet(&mut self) {
        if self.greeted.is_none() {
            self.greeted = Some(Instant::now());
            self.desk.line_opened();
        }
    }

    fn disconnect(&mut self, reason: &str) -> Option<End> {
        tracing::debug!(reason, "Slack will close a line");
        match reason {
            "link_disabled" => Some(End::Hopeless(super::trouble::words("link_disabled", None))),
            "too_many_websockets" => Some(End::Crowded),
            // Told again, it is known already.
            _ if self.warned => None,
            _ => {
                self.warned = true;
                Some(End::Warned)
            }
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.greeted.is_some() {
            self.desk.line_closed();
        }
    }
}
