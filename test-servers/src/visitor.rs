//! A client of the web room's socket.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::program::PATIENCE;

pub struct Visitor {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// Frames that were read while another was waited for.
    aside: VecDeque<Value>,
    pub person: String,
    /// What the others know it by.
    pub you: String,
    /// The last change it knows.
    pub seq: u64,
    /// How long it waits for one frame.
    pub patience: Duration,
}

pub async fn connect(address: SocketAddr, headers: &[(&'static str, &str)]) -> Result<Visitor, Error> {
    let mut request = format!("ws://{address}/ws").into_client_request()?;
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let (socket, _) = connect_async(request).await?;
    Ok(Visitor {
        socket,
        aside: VecDeque::new(),
        person: String::new(),
        you: String::new(),
        seq: 0,
        patience: PATIENCE,
    })
}

impl Visitor {
    /// Connects and enters; reads everything up to `caught_up`.
    pub async fn enter(address: SocketAddr, room: &str, name: &str) -> Visitor {
        Visitor::come_back(address, room, name, None, 0).await.0
    }

    pub async fn come_back(
        address: SocketAddr,
        room: &str,
        name: &str,
        person: Option<&str>,
        since: u64,
    ) -> (Visitor, Vec<Value>) {
        let mut visitor = connect(address, &[]).await.unwrap();
        visitor.send(json!({"do": "enter", "room": room, "name": name, "person": person, "since": since})).await;
        let hello = visitor.next("hello").await;
        visitor.person = hello["person"].as_str().unwrap().to_owned();
        visitor.you = hello["you"].as_str().unwrap().to_owned();
        let told = visitor.until("caught_up").await;
        (visitor, told)
    }

    pub async fn send(&mut self, frame: Value) {
        self.socket.send(Message::text(frame.to_string())).await.unwrap();
    }

    pub async fn send_raw(&mut self, message: Message) -> Result<(), Error> {
        self.socket.send(message).await
    }

    /// Says something and waits until it is accepted; returns its id.
    pub async fn say(&mut self, key: &str, text: &str) -> String {
        self.send(json!({"do": "say", "key": key, "text": text})).await;
        self.taken(key).await
    }

    pub async fn taken(&mut self, key: &str) -> String {
        let taken = self.next("taken").await;
        assert_eq!(taken["key"], key);
        taken["id"].as_str().unwrap_or_default().to_owned()
    }

    /// Sends a frame that must be refused; returns the reason.
    pub async fn refused(&mut self, frame: Value) -> String {
        self.send(frame).await;
        self.next("refused").await["why"].as_str().unwrap().to_owned()
    }

    /// Sends a command; returns the notice.
    pub async fn order(&mut self, text: &str) -> String {
        self.send(json!({"do": "say", "key": "order", "text": text})).await;
        self.next("notice").await["text"].as_str().unwrap().to_owned()
    }

    /// The next frame of this kind; others are kept for later calls.
    pub async fn next(&mut self, kind: &str) -> Value {
        if let Some(index) = self.aside.iter().position(|frame| frame["tell"] == kind) {
            return self.aside.remove(index).unwrap();
        }
        loop {
            let frame = self.read().await.unwrap_or_else(|end| panic!("no {kind}: {end}"));
            if frame["tell"] == kind {
                return frame;
            }
            self.aside.push_back(frame);
        }
    }

    /// Everything up to the next frame of this kind.
    pub async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut all = Vec::new();
        loop {
            all.push(self.any().await.unwrap_or_else(|end| panic!("no {kind}: {end}")));
            if all.last().unwrap()["tell"] == kind {
                return all;
            }
        }
    }

    /// The next frame, or how the connection ended.
    pub async fn any(&mut self) -> Result<Value, String> {
        match self.aside.pop_front() {
            Some(frame) => Ok(frame),
            None => self.read().await,
        }
    }

    async fn read(&mut self) -> Result<Value, String> {
        // Pings alone do not count as frames.
        let until = Instant::now() + self.patience;
        loop {
            match timeout_at(until, self.socket.next()).await.expect("something happens") {
                Some(Ok(Message::Text(text))) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    self.seq = self.seq.max(frame["seq"].as_u64().unwrap_or_default());
                    return Ok(frame);
                }
                Some(Ok(Message::Close(Some(frame)))) => return Err(format!("closed {}", u16::from(frame.code))),
                Some(Ok(Message::Close(None))) | None => return Err("closed".into()),
                Some(Ok(_)) => (),
                Some(Err(error)) => return Err(error.to_string()),
            }
        }
    }

    /// How the connection ends.
    pub async fn end(&mut self) -> String {
        loop {
            if let Err(end) = self.any().await {
                return end;
            }
        }
    }
}

/// The texts of the messages among these frames.
pub fn texts(frames: &[Value]) -> Vec<&str> {
    frames.iter().filter_map(|frame| frame["message"]["text"].as_str()).collect()
}
