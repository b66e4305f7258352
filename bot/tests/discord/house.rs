//! The adapter against the server, with an engine that writes down what it hears.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::config;
use aizuchi::platforms::discord::{Discord, DiscordSettings, GatewayState};
use aizuchi::ports::{BoxFuture, Caller, Commands};
use aizuchi::runtime::{Clock, EngineHandle, ShardRequest};
use aizuchi::stores::Database;
use aizuchi_core::types::Place;
use aizuchi_core::{Input, Message, Policies};
use aizuchi_test_servers::discord::{DiscordServer, TOKEN};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::PATIENCE;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub fn settings(server: &DiscordServer, assignments: &[&str]) -> (DiscordSettings, Policies) {
    let mut layers = config::new_layers();
    layers.add_assignment(&format!("discord.api_url={}", server.url()));
    assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
    (layers.section().unwrap(), config::resolve(&layers).unwrap())
}

/// Answers with the command itself.
#[derive(Default)]
pub struct Parrot(pub Mutex<Vec<(String, Caller, Place)>>);

impl Commands for Parrot {
    fn run<'a>(&'a self, text: &'a str, caller: &'a Caller, place: &'a Place) -> BoxFuture<'a, String> {
        self.0.lock().unwrap().push((text.to_owned(), caller.clone(), place.clone()));
        Box::pin(async move { format!("done: {text}") })
    }
}

pub struct DiscordFixture {
    pub server: DiscordServer,
    pub discord: Arc<Discord>,
    pub heard: Arc<Mutex<Vec<Input>>>,
    pub commands: Arc<Parrot>,
    stop: CancellationToken,
    done: JoinHandle<()>,
}

impl DiscordFixture {
    pub async fn open() -> (DiscordFixture, Scratch) {
        let scratch = Scratch::new("discord");
        let house = DiscordFixture::open_in(&scratch.0, DiscordServer::start().await, &[]).await;
        house.connected().await;
        (house, scratch)
    }

    pub async fn open_in(folder: &Path, server: DiscordServer, assignments: &[&str]) -> DiscordFixture {
        let (own, policies) = settings(&server, assignments);
        let database = Database::open(&folder.join("aizuchi.db")).unwrap();
        let discord =
            Discord::new(own, &policies.general().settings, TOKEN.into(), database.platform_stores(), Clock::Wall);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (shard, mut hears) = mpsc::channel(16);
        let notes = heard.clone();
        tokio::spawn(async move {
            while let Some(told) = hears.recv().await {
                if let ShardRequest::Input(input, done) = told {
                    notes.lock().unwrap().push(input);
                    let _ = done.send(());
                }
            }
        });
        let (commands, stop) = (Arc::new(Parrot::default()), CancellationToken::new());
        let done = discord
            .listen(EngineHandle::new(vec![shard], mpsc::unbounded_channel().0), commands.clone(), stop.clone())
            .unwrap();
        DiscordFixture { server, discord, heard, commands, stop, done }
    }

    pub async fn connected(&self) {
        let mut state = self.discord.state();
        let connected = state.wait_for(|state| *state == GatewayState::Connected);
        tokio::time::timeout(PATIENCE, connected).await.expect("it connects").unwrap();
    }

    /// Returns the server: it goes on without the bot.
    pub async fn close(self) -> DiscordServer {
        self.stop.cancel();
        self.done.await.unwrap();
        self.server
    }

    /// Why it was sent away.
    pub async fn sent_away(self) -> String {
        tokio::time::timeout(PATIENCE, self.done).await.expect("it stops by itself").unwrap();
        match self.discord.state().borrow().clone() {
            GatewayState::Stopped(why) => why,
            other => panic!("{other:?}"),
        }
    }

    /// Waits for so many inputs, a little longer to see that there are no more, and returns them.
    pub async fn hears(&self, count: usize) -> Vec<Input> {
        let until = Instant::now() + PATIENCE;
        while self.heard.lock().unwrap().len() < count && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        tokio::time::sleep(Duration::from_millis(60)).await;
        let heard = self.heard.lock().unwrap().clone();
        assert_eq!(heard.len(), count, "{heard:#?}");
        heard
    }

    pub async fn says(&self, count: usize) -> Vec<Message> {
        let said = |input| match input {
            Input::Said(message) => message,
            other => panic!("{other:?}"),
        };
        self.hears(count).await.into_iter().map(said).collect()
    }
}
