//! The web socket of one page: frames in, frames out, and a limit for pages that are gone, stuck or too fast.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::hub::{Lagged, RoomFrame, RoomSubscription, to_json};
use super::limits::{ClientAddress, RateTable, a_second};
use super::page::{OutgoingFrame, Page};
use super::server::WebContext;
use super::wire::FromServer;
use super::words::PageError;
use crate::language::Language;

/// How many responses may wait for a page to receive them.
const WAITING_MAX: usize = 64;
/// A page that does not receive a frame within this time is stuck.
const TAKES_WITHIN: Duration = Duration::from_secs(10);
/// The first frame of a page must be a request to enter.
const ENTERS_WITHIN: Duration = Duration::from_secs(10);
const PING_EVERY: Duration = Duration::from_secs(20);
/// Browsers answer a ping automatically: a page that is silent for this long is gone.
const GONE_AFTER: Duration = Duration::from_secs(60);

/// How many frames of any kind one page may send per second, unless its person may send more messages; faster ones wait.
const FRAMES_PER_SECOND: u32 = 10;

/// Why a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SocketEnd {
    Left,
    Gone,
    Stuck,
    Behind,
    NeverEntered,
    Unreadable,
    Stopping,
}

impl SocketEnd {
    fn close(self) -> CloseFrame {
        let (code, reason) = match self {
            SocketEnd::Left | SocketEnd::Gone => (close_code::NORMAL, ""),
            SocketEnd::Stuck | SocketEnd::Behind => (close_code::AGAIN, "too slow; reconnect for the rest"),
            SocketEnd::NeverEntered => (close_code::POLICY, "enter a room first"),
            SocketEnd::Unreadable => (close_code::SIZE, "too large or unreadable"),
            SocketEnd::Stopping => (close_code::RESTART, "aizuchi is stopping"),
        };
        CloseFrame { code, reason: reason.into() }
    }
}

/// The maximum size of a frame, for messages of this length: every character may be written as two escapes.
pub fn frame_bytes_max(message_chars_max: u32) -> usize {
    message_chars_max as usize * 12 + 4096
}

/// Tells a page in its language why it is not admitted, and that it may try again.
pub async fn turn_away(mut socket: WebSocket, error: PageError, language: Language) {
    metrics::counter!("aizuchi_web_refused_total").increment(1);
    let refused = FromServer::Refused { key: None, why: error.say(language), again: error.passes() };
    let close = CloseFrame { code: close_code::AGAIN, reason: "".into() };
    let tell = async {
        let _ = socket.send(Message::Text(to_json(&refused))).await;
        let _ = socket.send(Message::Close(Some(close))).await;
        // Reads what the page has sent meanwhile: a connection that is closed with unread data loses our frame.
        while let Some(Ok(_)) = socket.recv().await {}
    };
    let _ = timeout(TAKES_WITHIN, tell).await;
}

/// Until the page leaves, or `over`.
pub async fn serve(
    socket: WebSocket,
    context: Arc<WebContext>,
    language: Language,
    address: ClientAddress,
    over: &CancellationToken,
) {
    let pages = metrics::gauge!("aizuchi_web_pages");
    pages.increment(1);
    let (sink, stream) = socket.split();
    let (out, waiting) = mpsc::channel(WAITING_MAX);
    let page = Page::new(context, language, address, out);
    let writing = write(sink, waiting, over);
    tokio::pin!(writing);
    let (mut sink, end) = tokio::select! {
        (sink, end) = &mut writing => (sink, end),
        // The page is dropped, and with it the channel to the writer, which ends when everything is sent.
        end = read(stream, page) => (writing.await.0, end),
    };
    if end != SocketEnd::Left {
        tracing::debug!(why = ?end, "closed a web room connection");
    }
    let close = async {
        let _ = sink.send(Message::Close(Some(end.close()))).await;
        let _ = sink.close().await;
    };
    let _ = timeout(TAKES_WITHIN, close).await;
    pages.decrement(1);
}

async fn read(mut stream: SplitStream<WebSocket>, mut page: Page) -> SocketEnd {
    let pace: RateTable<()> = RateTable::new(a_second(frames_per_second(page.messages_per_second())));
    let entered_by = Instant::now() + ENTERS_WITHIN;
    loop {
        let read_by = if page.has_entered() { Instant::now() + GONE_AFTER } else { entered_by };
        let frame = match tokio::time::timeout_at(read_by, stream.next()).await {
            Ok(frame) => frame,
            Err(_) if page.has_entered() => return SocketEnd::Gone,
            Err(_) => return SocketEnd::NeverEntered,
        };
        match frame {
            None | Some(Ok(Message::Close(_))) => return SocketEnd::Left,
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => (),
            Some(Ok(Message::Text(text))) => {
                until_turn(&pace, &page).await;
                page.take(&text).await;
            }
            Some(Ok(Message::Binary(_))) => {
                until_turn(&pace, &page).await;
                page.refuse(None, PageError::NotUnderstood).await;
            }
            // Too large, not text, or a broken connection, in which case nobody reads the response.
            Some(Err(_)) => {
                page.refuse_too_big().await;
                return SocketEnd::Unreadable;
            }
        }
    }
}

/// If a person may send more messages than the default, or any number, so may each of their pages; 0 is no limit.
fn frames_per_second(messages: u32) -> u32 {
    if messages == 0 { 0 } else { messages.max(FRAMES_PER_SECOND) }
}

/// A page that sends too fast is read more slowly: nothing is lost, and the sender waits.
async fn until_turn(pace: &RateTable<()>, page: &Page) {
    while let Err(wait) = pace.check(&()) {
        sleep(wait).await;
    }
    page.until_turn().await;
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::Receiver<OutgoingFrame>,
    stop: &CancellationToken,
) -> (SplitSink<WebSocket, Message>, SocketEnd) {
    let mut room: Option<(RoomSubscription, u64, u64)> = None;
    let mut ping = interval(PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let end = loop {
        let message = tokio::select! {
            () = stop.cancelled() => break SocketEnd::Stopping,
            out = waiting.recv() => match out {
                None => break SocketEnd::Left,
                Some(OutgoingFrame::Frame(text)) => Message::Text(text),
                Some(OutgoingFrame::Seat { subscription, last_seq_sent, number }) => {
                    room = Some((subscription, last_seq_sent, number));
                    continue;
                }
            },
            frame = next_frame(&mut room) => match frame {
                Err(Lagged) => break SocketEnd::Behind,
                Ok(Some(frame)) => Message::Text(frame.text),
                Ok(None) => continue,
            },
            _ = ping.tick() => Message::Ping(Default::default()),
        };
        match timeout(TAKES_WITHIN, sink.send(message)).await {
            Ok(Ok(())) => (),
            Ok(Err(_)) => break SocketEnd::Left,
            Err(_) => break SocketEnd::Stuck,
        }
    };
    (sink, end)
}

/// The next event in the room; `None` if it is not new for this page.
async fn next_frame(room: &mut Option<(RoomSubscription, u64, u64)>) -> Result<Option<RoomFrame>, Lagged> {
    let Some((subscription, last_seq_sent, number)) = room else { return std::future::pending().await };
    let frame = subscription.next().await?;
    let known = frame.seq != 0 && frame.seq <= *last_seq_sent;
    Ok((!known && frame.from != *number).then_some(frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_fast_as_its_person_may_speak() {
        assert_eq!([0, 1, 10, 1000].map(frames_per_second), [0, 10, 10, 1000]);
    }
}
