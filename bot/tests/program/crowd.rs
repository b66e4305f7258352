//! People who talk as fast as they may, come back whenever the line breaks, and send again what was not taken.

use std::collections::{BTreeSet, VecDeque};
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

/// Whether a room is muted, as far as the person knows who mutes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mute {
    Off,
    On,
    /// An order has left and is not acknowledged.
    Changing,
}

/// Something that was said and is not taken yet.
#[derive(Clone, Debug)]
struct Unsure {
    key: String,
    text: String,
    mute: Mute,
}

/// Something the program has.
#[derive(Debug)]
pub struct Taken {
    pub id: String,
    pub text: String,
    /// How the room was from when it was sent until it was acknowledged.
    pub mute: Mute,
}

/// One in so many messages calls the bot.
const CALLS_ONE_IN: u64 = 5;
/// One in so many things that a moderator says is an order.
const ORDERS_ONE_IN: u64 = 15;
const SAYS_AGAIN_WITHIN_MS: u64 = 90;
/// Somebody who waits for so many acknowledgements says no more meanwhile: on a slow machine there would be ever more to send again.
const UNTAKEN_MAX: usize = 20;
const COMES_BACK_AFTER: Duration = Duration::from_millis(3);
const TRIES_AGAIN_AFTER: Duration = Duration::from_millis(100);

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
    says_again_within_ms: u64,
    /// Whether they mute their room now and then. Nobody else does.
    pub moderates: bool,
    mute: Mute,
    /// What the program said to this page alone.
    notice: String,
    /// What `/status` must say of the mute, while an answer to it is awaited.
    expected: Option<Mute>,
    /// Keys of what could not be done, and is tried again a little later. On the same connection: what came before it there
    /// may still be on its way.
    refused: Vec<String>,
    tries_again_at: Instant,
    /// Could not even come in.
    kept_out: bool,
    untaken: VecDeque<Unsure>,
    pub taken: Vec<Taken>,
    /// Ids of the messages it was shown.
    pub shown: BTreeSet<String>,
    /// Where a room was not muted as it was ordered.
    pub mutes_lost: Vec<String>,
}

impl Talker {
    pub fn new(
        (name, room): (&'static str, &'static str),
        address: SocketAddr,
        seed: u64,
        news: mpsc::UnboundedSender<News>,
        wish: watch::Receiver<Wish>,
    ) -> Talker {
        Talker {
            name,
            room,
            address,
            draw: Draw(seed),
            news,
            wish,
            person: None,
            since: 0,
            said: 0,
            says_again_within_ms: SAYS_AGAIN_WITHIN_MS,
            moderates: false,
            mute: Mute::Off,
            notice: String::new(),
            expected: None,
            refused: Vec::new(),
            tries_again_at: Instant::now(),
            kept_out: false,
            untaken: VecDeque::new(),
            taken: Vec::new(),
            shown: BTreeSet::new(),
            mutes_lost: Vec::new(),
        }
    }

    /// The same person, alone in a room that they mute now and then, with time to think.
    pub fn moderating(self, says_again_within_ms: u64) -> Talker {
        Talker { moderates: true, says_again_within_ms, ..self }
    }

    /// Says the next thing within this time.
    pub fn saying_within(self, says_again_within_ms: u64) -> Talker {
        Talker { says_again_within_ms, ..self }
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
            assert!(!finishing || Instant::now() < by, "{} cannot finish: {:?}", self.name, self.untaken);
            if !finishing {
                finish_by = None;
            }
            let kept_out = std::mem::take(&mut self.kept_out);
            sleep(if kept_out { TRIES_AGAIN_AFTER } else { COMES_BACK_AFTER }).await;
        }
    }

    /// One connection, until it breaks or everything is done.
    pub async fn visit(&mut self) -> Option<()> {
        let (mut socket, _) = connect_async(format!("ws://{}/ws", self.address)).await.ok()?;
        // Until it has caught up once it is shown the latest messages again, which may be others by now.
        if self.since == 0 {
            self.shown.clear();
        }
        let enter = json!({
            "do": "enter", "room": self.room, "name": self.name, "person": self.person, "since": self.since
        });
        send(&mut socket, &enter).await?;
        while self.read(&mut socket).await?["tell"] != "caught_up" {}
        let _ = self.news.send(News::Entered);
        self.refused.clear();
        for Unsure { key, text, .. } in self.untaken.clone() {
            self.say(&mut socket, &key, &text).await?;
        }
        self.expected = (self.moderates && self.mute != Mute::Changing).then_some(self.mute);
        if self.expected.is_some() {
            self.say(&mut socket, "status", "/status").await?;
        }
        let mut wish = self.wish.clone();
        let mut speaks_at = Instant::now();
        loop {
            let talks = *wish.borrow_and_update() == Wish::Talk;
            if !talks && self.untaken.is_empty() && self.expected.is_none() {
                return Some(());
            }
            let speaks = talks && self.untaken.len() < UNTAKEN_MAX;
            let (put_off, tries_again_at) = (!self.refused.is_empty(), self.tries_again_at);
            tokio::select! {
                frame = self.read(&mut socket) => drop(frame?),
                () = sleep_until(speaks_at), if speaks => {
                    self.say_something(&mut socket).await?;
                    speaks_at = Instant::now() + Duration::from_millis(self.draw.below(self.says_again_within_ms));
                }
                () = sleep_until(tries_again_at), if put_off => self.say_refused(&mut socket).await?,
                _ = wish.changed() => (),
            }
        }
    }

    /// Which of a room's messages, in their order, it was not shown. A page that enters is shown the latest ones, not all: on a
    /// busy machine there may be more by then.
    pub fn missed<'a>(&self, room: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        room.skip_while(|id| !self.shown.contains(*id)).filter(|id| !self.shown.contains(*id)).collect()
    }

    async fn say_something(&mut self, socket: &mut Socket) -> Option<()> {
        self.said += 1;
        let key = format!("{}-{}", self.name, self.said);
        let orders = self.moderates && self.mute != Mute::Changing && self.draw.below(ORDERS_ONE_IN) == 0;
        let text = match self.draw.below(CALLS_ONE_IN) {
            _ if orders => if self.mute == Mute::On { "/unmute" } else { "/mute" }.to_owned(),
            0 => format!("@aizuchi what do you make of {key}?"),
            1 => format!("does anybody know about {key}?"),
            _ => format!("and then there was {key}"),
        };
        if orders {
            self.mute = Mute::Changing;
        }
        self.untaken.push_back(Unsure { key: key.clone(), text: text.clone(), mute: self.mute });
        self.say(socket, &key, &text).await
    }

    async fn say_refused(&mut self, socket: &mut Socket) -> Option<()> {
        let refused = std::mem::take(&mut self.refused);
        for Unsure { key, text, .. } in self.untaken.clone().iter().filter(|unsure| refused.contains(&unsure.key)) {
            self.say(socket, key, text).await?;
        }
        Some(())
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
            return (!self.kept_out).then_some(frame);
        }
    }

    /// The recent history comes in the order of the room; from then on changes come in theirs.
    fn count(&mut self, frame: &Value) {
        if self.since > 0 {
            assert!(seq(frame) > self.since, "{} receives again what it knows: {frame}", self.name);
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
                if !self.shown.insert(id) {
                    return;
                }
                if message["voice"] == "Me" {
                    let first = !message["reply_to"].is_null();
                    let _ = self.news.send(if first { News::FirstPart } else { News::LaterPart });
                }
            }
            "changed" => self.count(frame),
            "caught_up" => self.since = self.since.max(seq(frame)),
            "notice" => {
                self.notice = text(&frame["text"]);
                self.compare_status();
            }
            "taken" => self.take_taken(&text(&frame["key"]), frame["id"].as_str()),
            "refused" => {
                assert_eq!(frame["again"], true, "{} is refused: {frame}", self.name);
                match frame["key"].as_str() {
                    Some(key) => self.put_off(key.to_owned()),
                    None => self.kept_out = true,
                }
            }
            _ => (),
        }
    }

    /// One that was sent twice is acknowledged twice.
    fn take_taken(&mut self, key: &str, id: Option<&str>) {
        let Some(index) = self.untaken.iter().position(|unsure| unsure.key == key) else { return };
        let Some(id) = id else { return self.take_order(index) };
        let Unsure { text, mute, .. } = self.untaken.remove(index).expect("it is there");
        if is_call(&text) {
            let _ = self.news.send(News::CallTaken);
        }
        let mute = if mute == self.mute { mute } else { Mute::Changing };
        self.taken.push(Taken { id: id.to_owned(), text, mute });
    }

    /// An order is answered with a notice, which says whether it was carried out.
    fn take_order(&mut self, index: usize) {
        let (mute, done) = match self.untaken[index].text.as_str() {
            "/mute" => (Mute::On, "I am muted until"),
            _ => (Mute::Off, "I am taking part again"),
        };
        if self.notice.contains(done) {
            self.untaken.remove(index);
            self.mute = mute;
        } else {
            let key = self.untaken[index].key.clone();
            self.put_off(key);
        }
    }

    fn put_off(&mut self, key: String) {
        if self.refused.is_empty() {
            self.tries_again_at = Instant::now() + TRIES_AGAIN_AFTER;
        }
        self.refused.push(key);
    }

    fn compare_status(&mut self) {
        let found = match &self.notice {
            status if status.contains("muted: until /unmute") => Mute::On,
            status if status.contains("muted: no") => Mute::Off,
            _ => return,
        };
        if let Some(expected) = self.expected.take().filter(|expected| *expected != found) {
            self.mutes_lost.push(format!("{}: ordered {expected:?}, found {found:?}", self.room));
            self.mute = found;
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
