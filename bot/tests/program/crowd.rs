//! People who talk as fast as they may, come back whenever the line breaks, and send again what was not taken.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::program::PATIENCE;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// The same numbers for the same seed.
#[derive(Clone, Debug)]
pub struct Draw(pub u64);

impl Draw {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// What somebody notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    Entered,
    /// A message to the bot has left.
    Called,
    /// And the program says that it has it.
    CallTaken,
    /// The bot begins to answer.
    FirstPart,
    /// It goes on.
    LaterPart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Talk,
    /// Nothing new; what was said is to be taken.
    Finish,
}

/// One in so many messages calls the bot.
const CALLS_ONE_IN: u64 = 5;
const SAYS_AGAIN_WITHIN_MS: u64 = 90;
const COMES_BACK_AFTER: Duration = Duration::from_millis(3);

pub struct Talker {
    pub name: &'static str,
    pub room: &'static str,
    address: SocketAddr,
    draw: Draw,
    news: mpsc::UnboundedSender<News>,
    wish: watch::Receiver<Wish>,
    person: Option<String>,
    /// The last change it knows.
    since: u64,
    said: u32,
    /// Keys and texts that the program has not taken yet.
    untaken: VecDeque<(String, String)>,
    /// Ids and texts of what it has.
    pub taken: Vec<(String, String)>,
    /// Ids of the messages it was shown, in order.
    pub shown: Vec<String>,
}

impl Talker {
    pub fn new(
        (name, room): (&'static str, &'static str),
        address: SocketAddr,
        seed: u64,
        news: mpsc::UnboundedSender<News>,
        wish: watch::Receiver<Wish>,
    ) -> Talker {
        let (untaken, taken, shown) = (VecDeque::new(), Vec::new(), Vec::new());
        let draw = Draw(seed);
        Talker { name, room, address, draw, news, wish, person: None, since: 0, said: 0, untaken, taken, shown }
    }

    /// Until everybody is to finish and everything is taken.
    pub async fn talk(mut self) -> Talker {
        let mut finish_by = None;
        loop {
            if self.visit().await.is_some() {
                return self;
            }
            let finishing = *self.wish.borrow() == Wish::Finish;
            let by = *finish_by.get_or_insert_with(|| Instant::now() + PATIENCE);
            assert!(!finishing || Instant::now() < by, "{} can not finish: {:?}", self.name, self.untaken);
            if !finishing {
                finish_by = None;
            }
            sleep(COMES_BACK_AFTER).await;
        }
    }

    /// One connection, until it breaks or everything is done.
    pub async fn visit(&mut self) -> Option<()> {
        let (mut socket, _) = connect_async(format!("ws://{}/ws", self.address)).await.ok()?;
        let enter = json!({
            "do": "enter", "room": self.room, "name": self.name, "person": self.person, "since": self.since
        });
        send(&mut socket, &enter).await?;
        while self.read(&mut socket).await?["tell"] != "caught_up" {}
        let _ = self.news.send(News::Entered);
        for (key, text) in self.untaken.clone() {
            self.say(&mut socket, &key, &text).await?;
        }
        let mut wish = self.wish.clone();
        let mut speaks_at = Instant::now();
        loop {
            let talks = *wish.borrow_and_update() == Wish::Talk;
            if !talks && self.untaken.is_empty() {
                return Some(());
            }
            tokio::select! {
                frame = self.read(&mut socket) => drop(frame?),
                () = sleep_until(speaks_at), if talks => {
                    self.say_something(&mut socket).await?;
                    speaks_at = Instant::now() + Duration::from_millis(self.draw.below(SAYS_AGAIN_WITHIN_MS));
                }
                _ = wish.changed() => (),
            }
        }
    }

    async fn say_something(&mut self, socket: &mut Socket) -> Option<()> {
        self.said += 1;
        let key = format!("{}-{}", self.name, self.said);
        let text = match self.draw.below(CALLS_ONE_IN) {
            0 => format!("@aizuchi what do you make of {key}?"),
            1 => format!("does anybody know about {key}?"),
            _ => format!("and then there was {key}"),
        };
        self.untaken.push_back((key.clone(), text.clone()));
        self.say(socket, &key, &text).await
    }

    async fn say(&self, socket: &mut Socket, key: &str, text: &str) -> Option<()> {
        send(socket, &json!({"do": "say", "key": key, "text": text})).await?;
        if is_call(text) {
            let _ = self.news.send(News::Called);
        }
        Some(())
    }

    async fn read(&mut self, socket: &mut Socket) -> Option<Value> {
        loop {
            let Message::Text(text) = socket.next().await?.ok()? else { continue };
            let frame: Value = serde_json::from_str(&text).expect("it speaks JSON");
            self.take(&frame);
            return Some(frame);
        }
    }

    /// The recent history comes in the order of the room; from then on changes come in theirs.
    fn count(&mut self, frame: &Value) {
        if self.since > 0 {
            assert!(seq(frame) > self.since, "{} is told again what it knows: {frame}", self.name);
            self.since = seq(frame);
        }
    }

    fn take(&mut self, frame: &Value) {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        match frame["tell"].as_str().expect("every frame says what it tells") {
            "hello" => self.person = Some(text(&frame["person"])),
            "said" => {
                let (id, message) = (text(&frame["message"]["id"]), &frame["message"]);
                self.count(frame);
                // One that has changed already is shown as it is now.
                if self.shown.contains(&id) {
                    return;
                }
                self.shown.push(id);
                if message["voice"] == "Me" {
                    let first = !message["reply_to"].is_null();
                    let _ = self.news.send(if first { News::FirstPart } else { News::LaterPart });
                }
            }
            "changed" => self.count(frame),
            "caught_up" => self.since = self.since.max(seq(frame)),
            "taken" => {
                let key = text(&frame["key"]);
                // One that was sent twice is acknowledged twice.
                if let Some(place) = self.untaken.iter().position(|(untaken, _)| *untaken == key) {
                    let (_, said) = self.untaken.remove(place).expect("it is there");
                    if is_call(&said) {
                        let _ = self.news.send(News::CallTaken);
                    }
                    self.taken.push((text(&frame["id"]), said));
                }
            }
            "refused" => panic!("{} is refused: {frame}", self.name),
            _ => (),
        }
    }
}

fn seq(frame: &Value) -> u64 {
    frame["seq"].as_u64().expect("changes are numbered")
}

pub fn is_call(text: &str) -> bool {
    text.starts_with("@aizuchi")
}

async fn send(socket: &mut Socket, frame: &Value) -> Option<()> {
    socket.send(Message::text(frame.to_string())).await.ok()
}
