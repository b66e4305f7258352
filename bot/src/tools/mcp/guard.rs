//! Limits what a server sends, and how long it may take to receive a message.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A longer message is not read.
pub const MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// A server that sends more messages than this in one window is disconnected.
const MESSAGES_MAX: u32 = 1000;
const WINDOW: Duration = Duration::from_secs(10);

/// Whether a connection has ended, and why.
#[derive(Clone, Debug, Default)]
pub struct ServerEnd(Arc<EndState>);

#[derive(Debug, Default)]
struct EndState {
    ended: CancellationToken,
    why: OnceLock<&'static str>,
}

impl ServerEnd {
    /// The first reason counts.
    fn set(&self, why: &'static str) {
        let _ = self.0.why.set(why);
        self.0.ended.cancel();
    }

    pub async fn wait(&self) {
        self.0.ended.cancelled().await;
    }

    pub fn reason(&self) -> &'static str {
        self.0.why.get().copied().unwrap_or(CLOSED)
    }
}

pub const CLOSED: &str = "closed the connection";

/// A transport that ends if a server sends too much or receives nothing.
pub struct GuardedTransport<T> {
    inner: T,
    /// How long sending one message may take.
    patience: Duration,
    window: MessageWindow,
    end: ServerEnd,
}

impl<T> GuardedTransport<T> {
    pub fn new(inner: T, patience: Duration, end: ServerEnd) -> GuardedTransport<T> {
        GuardedTransport { inner, patience, window: MessageWindow::new(), end }
    }
}

impl<T> Drop for GuardedTransport<T> {
    fn drop(&mut self) {
        self.end.set(CLOSED);
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for GuardedTransport<T> {
    type Error = io::Error;

    fn send(&mut self, item: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (sending, patience, end) = (self.inner.send(item), self.patience, self.end.clone());
        async move {
            match tokio::time::timeout(patience, sending).await {
                Ok(sent) => sent.map_err(io::Error::other),
                Err(_) => {
                    end.set("does not read what it is sent");
                    Err(io::ErrorKind::TimedOut.into())
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let received = tokio::select! {
                received = self.inner.receive() => received,
                () = self.end.wait() => None,
            };
            let Some(message) = received else {
                self.end.set(CLOSED);
                return None;
            };
            if !self.window.admits() {
                self.end.set("sent more than 1000 messages in 10 s");
                return None;
            }
            if is_of_use(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await.map_err(io::Error::other)
    }
}

/// Progress, logs and changes of resources are not used here.
fn is_of_use(message: &RxJsonRpcMessage<RoleClient>) -> bool {
    match message {
        JsonRpcMessage::Notification(sent) => {
            matches!(sent.notification, ServerNotification::ToolListChangedNotification(_))
        }
        JsonRpcMessage::Request(_) | JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => true,
    }
}

struct MessageWindow {
    since: Instant,
    count: u32,
}

impl MessageWindow {
    fn new() -> MessageWindow {
        MessageWindow { since: Instant::now(), count: 0 }
    }

    fn admits(&mut self) -> bool {
        if self.since.elapsed() >= WINDOW {
            *self = MessageWindow::new();
        }
        self.count += 1;
        self.count <= MESSAGES_MAX
    }
}

/// A line of this length is endless: the connection is closed.
const ENDLESS_LINE_BYTES: usize = 4 * MESSAGE_BYTES_MAX;

/// Counts lines that are too long. The parser drops them, and a call would wait for its response in vain.
pub struct LineCounter<R> {
    inner: R,
    line_bytes: usize,
    too_long: watch::Sender<u32>,
}

impl<R> LineCounter<R> {
    pub fn new(inner: R) -> (LineCounter<R>, watch::Receiver<u32>) {
        let (too_long, counted) = watch::channel(0);
        (LineCounter { inner, line_bytes: 0, too_long }, counted)
    }

    fn count(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            self.add(end + 1);
            self.line_bytes = 0;
            bytes = &bytes[end + 1..];
        }
        self.add(bytes.len());
    }

    fn add(&mut self, bytes: usize) {
        let before = self.line_bytes;
        self.line_bytes = before.saturating_add(bytes);
        if before <= MESSAGE_BYTES_MAX && self.line_bytes > MESSAGE_BYTES_MAX {
            self.too_long.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for LineCounter<R> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if let Poll::Ready(Ok(())) = read {
            self.count(&buffer.filled()[before..]);
        }
        // Reading a dropped line must not go on forever.
        if self.line_bytes > ENDLESS_LINE_BYTES {
            return Poll::Ready(Err(io::Error::other("a line without an end")));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_without_an_end_ends_the_connection() {
        use tokio::io::AsyncReadExt as _;
        let (mut lines, _counted) = LineCounter::new(tokio::io::repeat(b'x'));
        let mut buffer = vec![0; 1024 * 1024];
        let mut read = 0;
        while let Ok(some) = lines.read(&mut buffer).await {
            read += some;
            assert!(read <= ENDLESS_LINE_BYTES + buffer.len(), "it reads on for ever");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_once() {
        let (mut counter, counted) = LineCounter::new(tokio::io::empty());
        let half = vec![b'x'; MESSAGE_BYTES_MAX / 2];
        counter.count(&half);
        counter.count(b"\n");
        counter.count(&half);
        assert_eq!(*counted.borrow(), 0, "two lines that fit");
        counter.count(&half);
        counter.count(&half);
        counter.count(&half);
        assert_eq!(*counted.borrow(), 1);
        counter.count(b"\nshort\n");
        assert_eq!(*counted.borrow(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_not_admitted_and_a_trickle_is() {
        let mut window = MessageWindow::new();
        assert!((0..MESSAGES_MAX).all(|_| window.admits()));
        assert!(!window.admits());
        tokio::time::advance(WINDOW).await;
        assert!(window.admits());
    }
}
