//! Socket Mode: hello, envelopes in turn over all lines, again if nobody acknowledges, and warnings before the end.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// More lines than this are turned away.
const LINES_MAX: usize = 10;
const ATTEMPTS: u32 = 4;

enum Out {
    Text(String),
    /// Breaks the line without a word.
    Cut,
    Close,
    /// Says nothing any more, not even to a ping.
    Hush,
}

pub struct Sockets {
    acknowledged_within: Duration,
    inner: std::sync::Arc<Inner>,
}

/// How long the other side may take to answer a close.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Lines that know that their end is near.
pub struct WarnedLines(Vec<mpsc::UnboundedSender<Out>>);

impl WarnedLines {
    pub fn close(self) {
        self.0.iter().for_each(|line| _ = line.send(Out::Close));
    }
}

#[derive(Default)]
struct Inner {
    lines: Mutex<Vec<(u64, mpsc::UnboundedSender<Out>)>>,
    waiting: Mutex<HashMap<String, oneshot::Sender<()>>>,
    turn: AtomicUsize,
    serial: AtomicU64,
    /// Lines that were ever open.
    pub opened: AtomicUsize,
    /// Envelopes that nobody ever acknowledged.
    pub lost: AtomicUsize,
    pub redelivered: AtomicUsize,
    pub acknowledged: AtomicUsize,
    /// Acknowledgements of nothing that was sent.
    pub unasked: AtomicUsize,
}

impl Sockets {
    pub fn new(acknowledged_within: Duration) -> Sockets {
        Sockets { acknowledged_within, inner: Default::default() }
    }

    pub fn open(&self) -> usize {
        self.inner.lines.lock().unwrap().len()
    }

    pub fn opened(&self) -> usize {
        self.inner.opened.load(Ordering::SeqCst)
    }

    pub fn lost(&self) -> usize {
        self.inner.lost.load(Ordering::SeqCst)
    }

    pub fn redelivered(&self) -> usize {
        self.inner.redelivered.load(Ordering::SeqCst)
    }

    pub fn acknowledged(&self) -> usize {
        self.inner.acknowledged.load(Ordering::SeqCst)
    }

    pub fn unasked(&self) -> usize {
        self.inner.unasked.load(Ordering::SeqCst)
    }

    /// Sends it to one line, and to the next if that one does not acknowledge it.
    pub fn deliver(&self, kind: &str, payload: Value) {
        let (inner, kind, within) = (self.inner.clone(), kind.to_owned(), self.acknowledged_within);
        tokio::spawn(async move {
            let envelope = format!("env-{}", inner.serial.fetch_add(1, Ordering::SeqCst));
            for attempt in 0..ATTEMPTS {
                let (acknowledge, acknowledged) = oneshot::channel();
                inner.waiting.lock().unwrap().insert(envelope.clone(), acknowledge);
                let mut frame = json!({"envelope_id": envelope, "type": kind, "payload": payload,
                                       "accepts_response_payload": kind == "slash_commands"});
                if kind == "events_api" {
                    frame["retry_attempt"] = json!(attempt);
                    frame["retry_reason"] = json!(if attempt > 0 { "timeout" } else { "" });
                }
                inner.redelivered.fetch_add(usize::from(attempt > 0), Ordering::SeqCst);
                inner.send(Out::Text(frame.to_string()));
                if timeout(within, acknowledged).await.is_ok() {
                    inner.acknowledged.fetch_add(1, Ordering::SeqCst);
                    return;
                }
            }
            inner.lost.fetch_add(1, Ordering::SeqCst);
        });
    }

    /// The same envelope once more, as if its acknowledgement had been lost on the way.
    pub fn send_raw(&self, frame: &str) {
        self.inner.send(Out::Text(frame.to_owned()));
    }

    /// Warns every line of its end.
    pub fn warn(&self, reason: &str) -> WarnedLines {
        let lines: Vec<_> = self.inner.lines.lock().unwrap().iter().map(|(_, line)| line.clone()).collect();
        let warning = json!({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-1"}}).to_string();
        lines.iter().for_each(|line| _ = line.send(Out::Text(warning.clone())));
        WarnedLines(lines)
    }

    pub fn cut(&self) {
        self.inner.lines.lock().unwrap().drain(..).for_each(|(_, line)| _ = line.send(Out::Cut));
    }

    pub fn hush(&self) {
        self.inner.lines.lock().unwrap().drain(..).for_each(|(_, line)| _ = line.send(Out::Hush));
    }

    pub async fn serve(&self, mut socket: WebSocket) {
        let inner = &self.inner;
        let number = inner.opened.fetch_add(1, Ordering::SeqCst) as u64;
        let (line, mut out) = mpsc::unbounded_channel();
        if self.open() >= LINES_MAX {
            let _ = socket.send(Message::text(r#"{"type": "disconnect", "reason": "too_many_websockets"}"#)).await;
            return;
        }
        let hello = json!({"type": "hello", "num_connections": self.open() + 1, "connection_info": {"app_id": "A1"},
                           "debug_info": {"host": "applink-1", "approximate_connection_time": 3600}});
        let _ = socket.send(Message::text(hello.to_string())).await;
        inner.lines.lock().unwrap().push((number, line));
        loop {
            tokio::select! {
                wished = out.recv() => match wished {
                    Some(Out::Text(text)) => _ = socket.send(Message::text(text)).await,
                    Some(Out::Close) => {
                        let _ = socket.send(Message::Close(None)).await;
                        let _ = timeout(ANSWERS_WITHIN, inner.read_to_end(&mut socket)).await;
                        break;
                    }
                    Some(Out::Hush) => std::future::pending().await,
                    Some(Out::Cut) | None => break,
                },
                frame = socket.recv() => match frame {
                    Some(Ok(Message::Text(text))) => inner.acknowledge(&text),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                    Some(Ok(_)) => (),
                },
            }
        }
        inner.lines.lock().unwrap().retain(|(known, _)| *known != number);
    }
}

impl Inner {
    /// To the line whose turn it is.
    fn send(&self, out: Out) {
        let lines = self.lines.lock().unwrap();
        if !lines.is_empty() {
            let turn = self.turn.fetch_add(1, Ordering::SeqCst) % lines.len();
            let _ = lines[turn].1.send(out);
        }
    }

    /// Until the other side has closed too. A socket that is dropped with something unread resets its connection, and then what was
    /// said last does not arrive.
    async fn read_to_end(&self, socket: &mut WebSocket) {
        while let Some(Ok(frame)) = socket.recv().await {
            if let Message::Text(text) = frame {
                self.acknowledge(&text);
            }
        }
    }

    fn acknowledge(&self, text: &str) {
        let envelope =
            serde_json::from_str::<Value>(text).ok().and_then(|it| it["envelope_id"].as_str().map(str::to_owned));
        let waiting = envelope.and_then(|envelope| self.waiting.lock().unwrap().remove(&envelope));
        match waiting {
            Some(waiting) => _ = waiting.send(()),
            None => _ = self.unasked.fetch_add(1, Ordering::SeqCst),
        }
    }
}
