//! The web socket of one page: frames in, frames out, and an end to pages that are gone, stuck or too fast.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::hub::{Behind, Frame, Seat};
use super::page::{Out, Page};
use super::server::Desk;
use super::words::Trouble;
use crate::language::Language;

/// Answers that may wait for a page to take them.
const WAITING_MAX: usize = 64;
/// A page that does not take a frame within this is stuck.
const TAKES_WITHIN: Duration = Duration::from_secs(10);
/// A page says first of all where it wants to go.
const ENTERS_WITHIN: Duration = Duration::from_secs(10);
const PING_EVERY: Duration = Duration::from_secs(20);
/// Browsers answer a ping by themselves: whoever is silent for so long is gone.
const GONE_AFTER: Duration = Duration::from_secs(60);

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Left,
    Gone,
    Stuck,
    Behind,
    NeverEntered,
    Unreadable,
    Stopping,
}

impl End {
    fn close(self) -> CloseFrame {
        let (code, reason) = match self {
            End::Left | End::Gone => (close_code::NORMAL, ""),
            End::Stuck | End::Behind => (close_code::AGAIN, "too slow; come back and ask for the rest"),
            End::NeverEntered => (close_code::POLICY, "enter a room first"),
            End::Unreadable => (close_code::SIZE, "too large or unreadable"),
            End::Stopping => (close_code::RESTART, "aizuchi is stopping"),
        };
        CloseFrame { code, reason: reason.into() }
    }
}

/// The most bytes a frame may have, for messages of this length: every character may be written as two escapes.
pub fn frame_bytes_max(message_chars_max: u32) -> usize {
    message_chars_max as usize * 12 + 4096
}

pub async fn serve(socket: WebSocket, desk: Arc<Desk>, language: Language) {
    let pages = metrics::gauge!("aizuchi_web_pages");
    pages.increment(1);
    let (sink, stream) = socket.split();
    let (out, waiting) = mpsc::channel(WAITING_MAX);
    let stop = desk.stop.clone();
    let page = Page::new(desk, language, out);
    let writing = write(sink, waiting, &stop);
    tokio::pin!(writing);
    let (mut sink, end) = tokio::select! {
        (sink, end) = &mut writing => (sink, end),
        // The page is dropped, and with it the way to the writer, which ends when everything is said.
        end = read(stream, page) => (writing.await.0, end),
    };
    if end != End::Left {
        tracing::debug!(?end, "let go of a page of the web room");
    }
    let close = async {
        let _ = sink.send(Message::Close(Some(end.close()))).await;
        let _ = sink.close().await;
    };
    let _ = timeout(TAKES_WITHIN, close).await;
    pages.decrement(1);
}

async fn read(mut stream: SplitStream<WebSocket>, mut page: Page) -> End {
    let mut pace = Pace::new();
    let entered_by = Instant::now() + ENTERS_WITHIN;
    loop {
        // Whoever is too fast is read more slowly: nothing is lost, and it is the sender who waits.
        pace.ready().await;
        let read_by = if page.has_entered() { Instant::now() + GONE_AFTER } else { entered_by };
        let frame = match tokio::time::timeout_at(read_by, stream.next()).await {
            Ok(frame) => frame,
            Err(_) if page.has_entered() => return End::Gone,
            Err(_) => return End::NeverEntered,
        };
        match frame {
            None | Some(Ok(Message::Close(_))) => return End::Left,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => (),
            Some(Ok(Message::Text(text))) => {
                pace.spend();
                page.take(&text).await;
            }
            Some(Ok(Message::Binary(_))) => {
                pace.spend();
                page.refuse(None, Trouble::NotUnderstood).await;
            }
            // Too large, not text, or a broken line, in which case nobody reads the answer.
            Some(Err(_)) => {
                page.refuse_too_big().await;
                return End::Unreadable;
            }
        }
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::Receiver<Out>,
    stop: &CancellationToken,
) -> (SplitSink<WebSocket, Message>, End) {
    let mut room: Option<(Seat, u64, u64)> = None;
    let mut ping = interval(PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        let message = tokio::select! {
            () = stop.cancelled() => break End::Stopping,
            out = waiting.recv() => match out {
                None => break End::Left,
                Some(Out::Frame(text)) => Message::Text(text),
                Some(Out::Seat { seat, told, number }) => {
                    room = Some((seat, told, number));
                    continue;
                }
            },
            frame = hear(&mut room) => match frame {
                Err(Behind) => break End::Behind,
                Ok(Some(frame)) => Message::Text(frame.text),
                Ok(None) => continue,
            },
            _ = ping.tick() => Message::Ping(Default::default()),
        };
        match timeout(TAKES_WITHIN, sink.send(message)).await {
            Ok(Ok(())) => (),
            Ok(Err(_)) => break End::Left,
            Err(_) => break End::Stuck,
        }
    };
    (sink, end)
}

/// The next thing that happens in the room; `None` if it is nothing new for this page.
async fn hear(room: &mut Option<(Seat, u64, u64)>) -> Result<Option<Frame>, Behind> {
    let Some((seat, told, number)) = room else { return std::future::pending().await };
    let frame = seat.next().await?;
    let known = frame.seq != 0 && frame.seq <= *told;
    Ok((!known && frame.from != *number).then_some(frame))
}

/// How fast a page may send: a burst now and then, and so many a second in the long run.
struct Pace {
    burst: f64,
    at: Instant,
}

const BURST_MAX: f64 = 20.0;
const PER_SECOND: f64 = 10.0;

impl Pace {
    fn new() -> Pace {
        Pace { burst: BURST_MAX, at: Instant::now() }
    }

    async fn ready(&mut self) {
        let now = Instant::now();
        self.burst = (self.burst + now.duration_since(self.at).as_secs_f64() * PER_SECOND).min(BURST_MAX);
        self.at = now;
        if self.burst < 1.0 {
            sleep_until(now + Duration::from_secs_f64((1.0 - self.burst) / PER_SECOND)).await;
        }
    }

    fn spend(&mut self) {
        self.burst -= 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_passes_and_a_flood_is_slowed_down() {
        let (mut pace, start) = (Pace::new(), Instant::now());
        for _ in 0..20 {
            pace.ready().await;
            pace.spend();
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
        for _ in 0..50 {
            pace.ready().await;
            pace.spend();
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!((4.9..5.2).contains(&seconds), "{seconds}");
    }
}
