//! The adapter at work beside a Slack on loopback, with an engine that writes down what it hears.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::config;
use aizuchi::platforms::slack::{ConnectionPace, Slack, SlackSettings};
use aizuchi::ports::{BoxFuture, Caller, Commands, Platform as _, PostError, PostRequest};
use aizuchi::runtime::{Clock, EngineHandle, ShardRequest};
use aizuchi::stores::Database;
use aizuchi_core::types::{MessageId, Place, ThreadId};
use aizuchi_core::{Input, Message, Policies};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::PATIENCE;
use aizuchi_test_servers::slack::{APP_TOKEN, BOT_TOKEN, SlackServer, TEAM};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub const PACE: ConnectionPace = ConnectionPace {
    ping_every: Duration::from_millis(200),
    // Only a line that hangs is silent for so long.
    silent_max: Duration::from_secs(20),
    pause_min: Duration::from_millis(50),
    pause_max: Duration::from_millis(500),
    good_after: Duration::from_millis(50),
    sync_every: Duration::from_secs(3600),
    posts_within: Duration::from_secs(2),
};

/// The pause that a line of the log names.
pub fn pause_in(line: &str) -> Duration {
    let told = line.split("pause=").nth(1).and_then(|rest| rest.split(' ').next()).expect(line);
    let seconds = match told.strip_suffix("ms") {
        Some(millis) => millis.parse::<f64>().expect(line) / 1000.0,
        None => told.trim_end_matches('s').parse().expect(line),
    };
    Duration::from_secs_f64(seconds)
}

pub fn database(scratch: &Scratch) -> Database {
    Database::open(&scratch.0.join("aizuchi.db")).unwrap()
}

/// Answers with the command itself.
#[derive(Default)]
pub struct Echo(pub Mutex<Vec<(String, Caller, Place)>>);

impl Commands for Echo {
    fn run<'a>(&'a self, text: &'a str, caller: &'a Caller, place: &'a Place) -> BoxFuture<'a, String> {
        self.0.lock().unwrap().push((text.to_owned(), caller.clone(), place.clone()));
        Box::pin(std::future::ready(format!("**done** {text}")))
    }
}

/// Whether the engine accepts events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Listens,
    Deaf,
}

pub struct Office {
    pub slack: Arc<Slack>,
    pub heard: Arc<Mutex<Vec<Input>>>,
    pub commands: Arc<Echo>,
    pub stop: CancellationToken,
    pub done: JoinHandle<()>,
}

pub fn settings(server: &SlackServer, more: &[&str]) -> (SlackSettings, Policies) {
    let mut layers = config::new_layers();
    layers.add_assignment(&format!("slack.api_url={}", server.api_url()));
    more.iter().for_each(|assignment| layers.add_assignment(assignment));
    (layers.section().unwrap(), config::resolve(&layers).unwrap())
}

pub fn slack(server: &SlackServer, database: Database, more: &[&str]) -> Arc<Slack> {
    slack_at_pace(server, database, more, PACE)
}

fn slack_at_pace(server: &SlackServer, database: Database, more: &[&str], pace: ConnectionPace) -> Arc<Slack> {
    let (own, policies) = settings(server, more);
    let (engine, stores) = (&policies.general().settings, database.platform_stores());
    Slack::at_pace(own, engine, BOT_TOKEN.into(), APP_TOKEN.into(), stores, Clock::Wall, pace).unwrap()
}

impl Office {
    pub async fn open(server: &SlackServer, scratch: &Scratch) -> Office {
        Office::open_with(server, scratch, Engine::Listens, &[]).await
    }

    pub async fn open_with(server: &SlackServer, scratch: &Scratch, engine: Engine, more: &[&str]) -> Office {
        Office::open_at_pace(server, scratch, engine, more, PACE).await
    }

    pub async fn open_at_pace(
        server: &SlackServer,
        scratch: &Scratch,
        engine: Engine,
        more: &[&str],
        pace: ConnectionPace,
    ) -> Office {
        let office = Office::listen(server, scratch, engine, more, pace).await.unwrap();
        let lines = 2;
        until("lines are open", || server.sockets.open() >= lines).await;
        office
    }

    pub async fn try_open(
        server: &SlackServer,
        scratch: &Scratch,
        engine: Engine,
        more: &[&str],
    ) -> anyhow::Result<Office> {
        Office::listen(server, scratch, engine, more, PACE).await
    }

    async fn listen(
        server: &SlackServer,
        scratch: &Scratch,
        engine: Engine,
        more: &[&str],
        pace: ConnectionPace,
    ) -> anyhow::Result<Office> {
        let slack = slack_at_pace(server, database(scratch), more, pace);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (shard, hears) = mpsc::channel(16);
        tokio::spawn(listen(hears, heard.clone(), engine));
        let (commands, stop) = (Arc::new(Echo::default()), CancellationToken::new());
        let done = slack
            .listen(EngineHandle::new(vec![shard], mpsc::unbounded_channel().0), commands.clone(), stop.clone())
            .await?;
        Ok(Office { slack, heard, commands, stop, done })
    }

    pub async fn close(self) {
        self.stop.cancel();
        tokio::time::timeout(PATIENCE, self.done).await.expect("it stops on request").unwrap();
    }

    pub fn inputs(&self) -> Vec<Input> {
        self.heard.lock().unwrap().clone()
    }

    pub fn said(&self) -> Vec<Message> {
        let said = |input: Input| if let Input::Said(message) = input { Some(message) } else { None };
        self.inputs().into_iter().filter_map(said).collect()
    }

    /// The message of this time stamp, once it is heard.
    pub async fn hears(&self, ts: &str) -> Message {
        until(&format!("{ts} is heard"), || self.said().iter().any(|message| message.id.as_str() == ts)).await;
        self.said().into_iter().find(|message| message.id.as_str() == ts).unwrap()
    }

    pub async fn post(&self, key: &str, place: &Place, text: &str) -> Result<MessageId, PostError> {
        self.slack.post(PostRequest { key, place, text, answering: None, more: false }).await
    }
}

async fn listen(mut hears: mpsc::Receiver<ShardRequest>, heard: Arc<Mutex<Vec<Input>>>, engine: Engine) {
    let mut unanswered = Vec::new();
    while let Some(told) = hears.recv().await {
        match told {
            ShardRequest::Input(_, done) if engine == Engine::Deaf => unanswered.push(done),
            ShardRequest::Input(input, done) => {
                heard.lock().unwrap().push(input);
                let _ = done.send(());
            }
            ShardRequest::Store(_) => unreachable!("Slack stores nothing that way"),
            ShardRequest::Pay(_, _, done) => drop(done),
            ShardRequest::Look(_, done) => _ = done.send(None),
            ShardRequest::Close(_, done) => _ = done.send(Ok(())),
            ShardRequest::Forget(forgetting) => _ = forgetting.done.send(Ok(())),
        }
    }
}

pub fn room(channel: &str) -> Place {
    Place::room(format!("slack:{TEAM}/{channel}"))
}

pub fn thread(channel: &str, thread: &str) -> Place {
    Place { thread: Some(ThreadId::new(thread)), ..room(channel) }
}

/// Looks again and again until it is so.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
