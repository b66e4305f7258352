//! Many pages of the web room that talk at a steady pace, and when what they said was taken and decided.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Nothing to wait for: its decision falls when it is heard.
const REMARK: &str = "and then the rain came, and we all went home again";
/// Written before the number of a mention, so that it is found in a prompt.
const ASKS: &str = "what do you make of number";

/// How much is said, by how many, and where.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub rooms: u64,
    pub pages: u64,
    pub messages_per_second: u64,
    pub mentions_per_second: u64,
    pub length: Duration,
}

/// When things happened, by the number of the message.
#[derive(Debug, Default)]
pub struct LoadRecord {
    pub sent: HashMap<u64, Instant>,
    pub mentioned: HashMap<u64, Instant>,
    pub taken: HashMap<u64, Instant>,
    pub decided: HashMap<u64, Instant>,
}

impl Load {
    pub fn room(number: u64) -> String {
        format!("room{number}")
    }

    /// The rooms as a setting, so that they are there from the start.
    pub fn rooms_setting(&self) -> String {
        let rooms: Vec<String> = (0..self.rooms).map(|number| format!("{:?}", Load::room(number))).collect();
        format!("web.rooms=[{}]", rooms.join(","))
    }

    /// Talks for the whole length. Panics if a page is refused or disconnected.
    pub async fn run(self, address: SocketAddr) -> LoadRecord {
        let noted = Arc::new(Mutex::new(LoadRecord::default()));
        let mut sockets = Vec::new();
        for number in 0..self.pages {
            sockets.push(enter(address, &Load::room(number % self.rooms), &format!("guest {number}")).await);
        }
        let begun = Instant::now();
        let mut pages = JoinSet::new();
        for (number, socket) in sockets.into_iter().enumerate() {
            pages.spawn(self.talk(number as u64, socket, begun, noted.clone()));
        }
        while let Some(ended) = pages.join_next().await {
            ended.expect("a page goes on to the end");
        }
        Arc::into_inner(noted).expect("every page has ended").into_inner().expect("nobody panicked")
    }

    /// What one page says: its share of the numbers, each at its own instant.
    async fn talk(self, page: u64, mut socket: Socket, begun: Instant, noted: Arc<Mutex<LoadRecord>>) {
        let all = self.messages_per_second * self.length.as_secs();
        let mention_every = self.messages_per_second / self.mentions_per_second.max(1);
        let mut own = PendingMessages::default();
        let mut number = page;
        // To the last acknowledgement, however long that takes.
        while number < all || own.untaken > 0 {
            let due = begun + Duration::from_micros(number * 1_000_000 / self.messages_per_second);
            tokio::select! {
                frame = socket.next() => match frame {
                    Some(Ok(Message::Text(text))) => own.take(&text, &noted),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => panic!("page {page} was let go: {frame:?}"),
                    Some(Ok(_)) => (),
                },
                () = tokio::time::sleep_until(due.into()), if number < all => {
                    let mentions = self.mentions_per_second > 0 && number.is_multiple_of(mention_every);
                    let text = if mentions { format!("@aizuchi {ASKS} {number}?") } else { REMARK.to_owned() };
                    let now = Instant::now();
                    {
                        let mut noted = noted.lock().expect("nobody panics while holding it");
                        let sent = if mentions { &mut noted.mentioned } else { &mut noted.sent };
                        sent.insert(number, now);
                    }
                    say(&mut socket, number, &text).await;
                    own.untaken += 1;
                    number += self.pages;
                }
            }
        }
        let _ = socket.close(None).await;
    }
}

/// The number of the newest mention in a prompt.
pub fn mention_in(prompt: &str) -> Option<u64> {
    let (_, after) = prompt.rsplit_once(ASKS)?;
    let digits: String = after.trim_start().chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

async fn enter(address: SocketAddr, room: &str, name: &str) -> Socket {
    let (mut socket, _) = connect_async(format!("ws://{address}/ws")).await.expect("it listens");
    let frame = json!({"do": "enter", "room": room, "name": name});
    socket.send(Message::text(frame.to_string())).await.expect("it reads");
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) if text.starts_with(r#"{"tell":"caught_up""#) => return socket,
            Some(Ok(Message::Text(text))) if text.starts_with(r#"{"tell":"refused""#) => panic!("refused: {text}"),
            Some(Ok(Message::Close(_)) | Err(_)) | None => panic!("{name} was let go before it entered"),
            Some(Ok(_)) => (),
        }
    }
}

async fn say(socket: &mut Socket, number: u64, text: &str) {
    let frame = json!({"do": "say", "key": number.to_string(), "text": text});
    socket.send(Message::text(frame.to_string())).await.expect("it reads");
}

#[derive(Deserialize)]
struct Taken<'a> {
    key: &'a str,
    id: String,
}

#[derive(Deserialize)]
struct Decided<'a> {
    #[serde(borrow)]
    trace: Trace<'a>,
}

#[derive(Deserialize)]
struct Trace<'a> {
    id: &'a str,
}

/// How many decisions may arrive at a page before the acknowledgement of their message.
const EARLY_MAX: usize = 64;

/// Messages of a page without a decision yet, by id; a decision may come first.
#[derive(Default)]
struct PendingMessages {
    untaken: u64,
    waiting: HashMap<String, u64>,
    early: VecDeque<(String, Instant)>,
}

impl PendingMessages {
    fn take(&mut self, text: &str, noted: &Mutex<LoadRecord>) {
        let now = Instant::now();
        let noted = || noted.lock().expect("nobody panics while holding it");
        if text.starts_with(r#"{"tell":"taken""#) {
            let taken: Taken<'_> = serde_json::from_str(text).expect("a frame of its own");
            let number = taken.key.parse().expect("its own key");
            noted().taken.insert(number, now);
            self.untaken -= 1;
            match self.early.iter().find(|(id, _)| *id == taken.id) {
                Some((_, at)) => drop(noted().decided.insert(number, *at)),
                None => drop(self.waiting.insert(taken.id, number)),
            }
        } else if text.starts_with(r#"{"tell":"decided""#) {
            let decided: Decided<'_> = serde_json::from_str(text).expect("a frame of its own");
            match self.waiting.remove(decided.trace.id) {
                Some(number) => drop(noted().decided.insert(number, now)),
                None => {
                    self.early.truncate(EARLY_MAX - 1);
                    self.early.push_front((decided.trace.id.to_owned(), now));
                }
            }
        } else if text.starts_with(r#"{"tell":"refused""#) {
            panic!("refused: {text}");
        }
    }
}
