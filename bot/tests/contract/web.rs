//! The stage on the web: a room with people at pages.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use aizuchi::commands::BotInfo;
use aizuchi::journal::Traces;
use aizuchi::platforms::web::{STORE_FAILS, Web, WebServices};
use aizuchi::runtime::Clock;
use aizuchi_test_servers::visitor::{Visitor, connect};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::life::{BotRun, Ground, NoCommands, POINTS, point};
use crate::stage::{PlatformStage, Post, ScriptedLine, Trouble};

const ROOM: &str = "lobby";

pub struct WebRoom {
    address: SocketAddr,
    life: BotRun,
    pages: HashMap<String, Visitor>,
    /// What was sent, by whom.
    sent: HashMap<String, (String, Value)>,
    keys: u64,
    _stop: DropGuard,
}

impl WebRoom {
    async fn page(&mut self, name: &str) -> &mut Visitor {
        assert!(self.lets_in(name).await, "{name} may come in");
        self.pages.get_mut(name).expect("it came in")
    }

    fn key(&mut self) -> String {
        self.keys += 1;
        self.keys.to_string()
    }

    /// The id of the message it is about.
    async fn send(&mut self, by: &str, frame: Value) -> String {
        let key = frame["key"].as_str().expect("it has a key").to_owned();
        let page = self.page(by).await;
        page.send(frame).await;
        page.taken(&key).await
    }
}

/// Comes in, or is sent away at the door.
async fn enter(address: SocketAddr, name: &str) -> Option<Visitor> {
    let mut page = connect(address, &[]).await.unwrap();
    page.send(json!({"do": "enter", "room": ROOM, "name": name})).await;
    let answer = page.any().await.unwrap();
    if answer["tell"] != "hello" {
        return None;
    }
    page.person = answer["person"].as_str()?.to_owned();
    page.until("caught_up").await;
    Some(page)
}

impl PlatformStage for WebRoom {
    const ANSWERS_POINT: bool = true;

    async fn open() -> WebRoom {
        let ground = Ground::new(&["web.address=127.0.0.1:0"]);
        let (own, settings) = (ground.layers.section().unwrap(), &ground.policies.general().settings);
        let (name, offline) = (settings.bot.name.clone(), || "offline".to_owned());
        let bot = BotInfo {
            name,
            model: offline(),
            judge: offline(),
            offline: true,
            local: None,
            preset: "aizuchi".into(),
            presets: "aizuchi".into(),
        };
        let web = Web::new(own, settings, bot, ground.database.platform_stores(), Clock::Wall);
        let life = BotRun::begin(ground, web.clone()).await;
        let stop = CancellationToken::new();
        let listening = WebServices {
            engine: life.engine(),
            traces: Traces::new(life.ground.database.clone()),
            commands: Arc::new(NoCommands),
            keeper: None,
            events: life.events.subscribe(),
            metrics: aizuchi::console::install(),
            ready: life.ready.subscribe(),
            not_ready: STORE_FAILS,
            alert: tokio::sync::watch::channel(String::new()).1,
            beside: Vec::new(),
            stop: stop.clone(),
        };
        let (address, _) = web.listen(listening).await.unwrap();
        let (pages, sent) = (HashMap::new(), HashMap::new());
        WebRoom { address, life, pages, sent, keys: 0, _stop: stop.drop_guard() }
    }

    fn life(&mut self) -> &mut BotRun {
        &mut self.life
    }

    fn room(&self) -> String {
        format!("web:{ROOM}")
    }

    fn mention(&self) -> String {
        "@aizuchi".into()
    }

    async fn lets_in(&mut self, name: &str) -> bool {
        if !self.pages.contains_key(name) {
            let page = enter(self.address, name).await;
            self.pages.extend(page.map(|page| (name.to_owned(), page)));
        }
        self.pages.contains_key(name)
    }

    async fn tell(&mut self, line: ScriptedLine<'_>) -> String {
        let key = self.key();
        let frame = json!({"do": "say", "key": key, "text": line.text, "thread": line.thread, "reply_to": line.reply});
        let id = self.send(line.by, frame.clone()).await;
        self.sent.insert(id.clone(), (line.by.to_owned(), frame));
        id
    }

    async fn edit(&mut self, by: &str, id: &str, text: &str) {
        let key = self.key();
        self.send(by, json!({"do": "edit", "key": key, "id": id, "text": text})).await;
    }

    async fn delete(&mut self, by: &str, id: &str) {
        let key = self.key();
        self.send(by, json!({"do": "delete", "key": key, "id": id})).await;
    }

    async fn react(&mut self, by: &str, id: &str, emoji: &str, on: bool) {
        let key = self.key();
        self.send(by, json!({"do": "react", "key": key, "id": id, "emoji": emoji, "on": on})).await;
    }

    /// As somebody sees them who comes in now.
    async fn posts(&self) -> Vec<Post> {
        let (_, told) = Visitor::come_back(self.address, ROOM, "onlooker", None, 0).await;
        let mut posts: Vec<&Value> = told.iter().map(|frame| &frame["message"]).collect();
        posts.retain(|message| message["voice"] == "Me");
        posts.into_iter().map(post).collect()
    }

    /// Pages come back with what they know, and get the rest once.
    async fn cut(&mut self) {
        for (name, before) in self.pages.drain().collect::<Vec<_>>() {
            let (person, seq) = (before.person.clone(), before.seq);
            drop(before);
            let (page, told) = Visitor::come_back(self.address, ROOM, &name, Some(&person), seq).await;
            let ids: Vec<&Value> =
                told.iter().map(|frame| &frame["message"]["id"]).filter(|id| !id.is_null()).collect();
            assert!(ids.iter().all(|id| ids.iter().filter(|other| *other == id).count() == 1), "{told:?}");
            self.pages.insert(name, page);
        }
    }

    /// The store answers or it does not: there is no way in between.
    fn lose_answer(&mut self) -> Trouble {
        Trouble::Unknown
    }

    async fn redeliver(&mut self, id: &str) {
        let (by, frame) = self.sent[id].clone();
        assert_eq!(self.send(&by, frame).await, id);
    }

    fn limit_posts(&mut self) -> Trouble {
        Trouble::Unknown
    }

    fn permit(&mut self, _: bool) -> Trouble {
        Trouble::Unknown
    }
}

fn post(message: &Value) -> Post {
    let text = |field: &str| message[field].as_str().map(str::to_owned);
    Post {
        id: text("id").expect("it has an id"),
        text: text("text").unwrap_or_default(),
        thread: text("thread"),
        answering: text("reply_to"),
    }
}

/// Between two posts of an answer everybody sees that it is writing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_seen_writing_between_the_posts_of_an_answer() {
    let mut room = WebRoom::open().await;
    let mut onlooker = enter(room.address, "onlooker").await.expect("anybody may look on");
    room.call("mia", "tell me everything").await;
    let mut seen = Vec::new();
    loop {
        let frame = onlooker.any().await.expect("there is more to see");
        let message = &frame["message"];
        match frame["tell"].as_str() {
            Some("typing") => seen.push("writes"),
            Some("said") if message["voice"] == "Me" => seen.push("posts"),
            _ => continue,
        }
        if message["text"].as_str().is_some_and(|text| text.contains(&point(POINTS - 1))) {
            break;
        }
    }
    // The platform takes each of them in several parts.
    seen.dedup();
    let first = seen.iter().position(|seen| *seen == "posts").expect("it posts");
    assert_eq!(seen[first..], ["posts", "writes", "posts", "writes", "posts"]);
    room.life.rest().await;
}
