//! Discord on loopback, from its public documentation: gateway and REST API in one small server that a test can drive,
//! and that does not let a client cheat.

mod gateway;
mod limits;
mod rest;
mod routes;
mod world;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use rest::{RecordedRequest, ScriptedFailure};
pub use world::{BOT, BOT_ID, CHANNEL, GUILD, Order, PRIVATE, TOKEN, World, hook, person};

use crate::program::eventually;

/// Shared by all connections.
#[derive(Clone)]
pub struct Shared(Arc<Mutex<World>>);

impl Shared {
    pub fn with<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        change(&mut self.0.lock().unwrap())
    }
}

pub struct DiscordServer {
    pub port: u16,
    pub world: Shared,
    task: JoinHandle<()>,
}

impl Drop for DiscordServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl DiscordServer {
    pub async fn start() -> DiscordServer {
        DiscordServer::start_on(Ipv4Addr::LOCALHOST.into()).await
    }

    /// On another address of this machine.
    pub async fn start_on(ip: IpAddr) -> DiscordServer {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut world = World::new(port);
        (world.host, world.resume_host) = (ip.to_string(), ip.to_string());
        let world = Shared(Arc::new(Mutex::new(world)));
        let app = Router::new().route("/", get(gateway::enter)).fallback(rest::answer).with_state(world.clone());
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        DiscordServer { port, world, task }
    }

    pub fn url(&self) -> String {
        self.world.with(|world| format!("http://{}:{}", world.host, self.port))
    }

    /// Somebody says something in a channel; the id of the message.
    pub fn say(&self, channel: u64, by: &Value, text: &str) -> u64 {
        self.tell(channel, by, json!({"content": text}))
    }

    /// A message with whatever else it holds.
    pub fn tell(&self, channel: u64, by: &Value, fields: Value) -> u64 {
        self.world.with(|world| world.say(channel, by, fields))
    }

    /// Any event, to every session.
    pub fn dispatch(&self, kind: &str, data: Value) {
        self.world.with(|world| world.dispatch(kind, data));
    }

    /// What was posted by the bot in a channel, oldest first.
    pub fn posts(&self, channel: u64) -> Vec<Value> {
        self.world.with(|world| {
            let messages = world.messages.get(&channel).cloned().unwrap_or_default();
            messages.into_iter().filter(|message| message["author"]["id"] == BOT_ID).collect()
        })
    }

    /// The requests whose method and path hold this.
    pub fn asked(&self, line: &str) -> Vec<RecordedRequest> {
        self.world.with(|world| world.asked.iter().filter(|asked| asked.line.contains(line)).cloned().collect())
    }

    /// The next request whose method and path hold this goes wrong.
    pub fn mishap(&self, line: &str, mishap: ScriptedFailure) {
        self.world.with(|world| world.mishaps.push((line.to_owned(), mishap)));
    }

    /// Waits until something is so.
    pub async fn until(&self, what: &str, mut so: impl FnMut(&mut World) -> bool) {
        eventually(what, async || self.world.with(&mut so).then_some(())).await;
    }

    pub async fn until_posts(&self, channel: u64, count: usize) -> Vec<Value> {
        self.until(&format!("{count} posts"), |world| {
            let by_bot = |message: &&Value| message["author"]["id"] == BOT_ID;
            world.messages.get(&channel).is_some_and(|all| all.iter().filter(by_bot).count() >= count)
        })
        .await;
        self.posts(channel)
    }
}
