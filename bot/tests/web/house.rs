//! An open web room with an engine that writes down what it hears.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use aizuchi::commands::{BotInfo, CommandRunner};
use aizuchi::config;
use aizuchi::journal::Traces;
use aizuchi::platforms::web::{STORE_FAILS, Web, WebServices};
use aizuchi::ports::Commands;
use aizuchi::runtime::{Clock, EngineEvent, EngineHandle, ShardRequest, StoreRequest};
use aizuchi::stores::Database;
use aizuchi::stores::sqlite::store_talk;
use aizuchi_core::room::Cost;
use aizuchi_core::view::RoomView;
use aizuchi_core::{Input, Message};
use aizuchi_test_servers::folder::Scratch;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub struct WebFixture {
    pub address: SocketAddr,
    pub web: Arc<Web>,
    pub database: Database,
    pub events: broadcast::Sender<EngineEvent>,
    pub ready: watch::Sender<bool>,
    pub heard: Arc<Mutex<Vec<Input>>>,
    pub stop: CancellationToken,
    pub done: JoinHandle<()>,
    /// Where nobody else holds it.
    _folder: Option<Scratch>,
}

/// Whether the engine accepts events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Listens,
    Deaf,
}

pub fn folder(name: &str) -> Scratch {
    Scratch::new(&format!("web-{name}"))
}

impl WebFixture {
    pub async fn open(name: &str) -> WebFixture {
        WebFixture::open_set(name, &[]).await
    }

    pub async fn open_set(name: &str, assignments: &[&str]) -> WebFixture {
        let folder = folder(name);
        let house = WebFixture::open_in(&folder, assignments, Engine::Listens).await.unwrap();
        WebFixture { _folder: Some(folder), ..house }
    }

    pub async fn open_in(folder: &std::path::Path, assignments: &[&str], engine: Engine) -> anyhow::Result<WebFixture> {
        WebFixture::open_with(folder, assignments, engine, |commands| commands).await
    }

    /// The same with other commands, which may use those that there are.
    pub async fn open_with(
        folder: &std::path::Path,
        assignments: &[&str],
        engine: Engine,
        others: impl FnOnce(Arc<dyn Commands>) -> Arc<dyn Commands>,
    ) -> anyhow::Result<WebFixture> {
        let mut layers = config::new_layers();
        layers.add_assignment("web.address=127.0.0.1:0");
        assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
        let policies = config::resolve(&layers).unwrap();
        let settings = &policies.general().settings;
        let database = Database::open(&folder.join("aizuchi.db"))?;
        let bot = BotInfo {
            name: settings.bot.name.clone(),
            model: "offline".into(),
            judge: "offline".into(),
            offline: true,
            local: None,
            preset: "aizuchi".into(),
            presets: "aizuchi".into(),
        };
        let web = Web::new(layers.section().unwrap(), settings, bot.clone(), database.platform_stores(), Clock::Wall);
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (shard, hears) = mpsc::channel(16);
        tokio::spawn(listen(hears, heard.clone(), database.clone(), engine));
        let (events, watched) = broadcast::channel(256);
        let (ready, is_ready) = watch::channel(true);
        let stop = CancellationToken::new();
        let (engine, traces) =
            (EngineHandle::new(vec![shard], mpsc::unbounded_channel().0), Traces::new(database.clone()));
        let (wishes, _) = mpsc::channel(1);
        let commands = Arc::new(
            CommandRunner::new(engine.clone(), traces.clone(), Clock::Wall, bot, wishes).serving(vec![web.clone()]),
        );
        let listening = WebServices {
            engine,
            traces,
            commands: others(commands),
            keeper: None,
            events: watched,
            metrics: aizuchi::console::install(),
            ready: is_ready,
            not_ready: STORE_FAILS,
            alert: tokio::sync::watch::channel(String::new()).1,
            beside: Vec::new(),
            stop: stop.clone(),
        };
        let (address, done) = web.listen(listening).await?;
        Ok(WebFixture { address, web, database, events, ready, heard, stop, done, _folder: None })
    }

    pub async fn close(self) {
        self.stop.cancel();
        self.done.await.unwrap();
    }

    /// The messages the engine heard, in order.
    pub fn said(&self) -> Vec<Message> {
        let said = |input: &Input| match input {
            Input::Said(message) => Some(message.clone()),
            _ => None,
        };
        self.heard.lock().unwrap().iter().filter_map(said).collect()
    }

    /// A plain request over HTTP; the whole answer as text.
    pub async fn get(&self, path: &str, headers: &[&str]) -> String {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let host = if headers.iter().any(|line| line.starts_with("Host:")) { "" } else { "Host: localhost\r\n" };
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let request = format!("GET {path} HTTP/1.1\r\n{host}Connection: close\r\n{lines}\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

async fn listen(
    mut hears: mpsc::Receiver<ShardRequest>,
    heard: Arc<Mutex<Vec<Input>>>,
    database: Database,
    engine: Engine,
) {
    let (mut unanswered, mut not_stored) = (Vec::new(), Vec::new());
    while let Some(told) = hears.recv().await {
        match told {
            ShardRequest::Input(_, done) if engine == Engine::Deaf => unanswered.push(done),
            ShardRequest::Input(input, done) => {
                heard.lock().unwrap().push(input);
                let _ = done.send(());
            }
            ShardRequest::Store(storing) if engine == Engine::Deaf => not_stored.push(storing),
            ShardRequest::Store(StoreRequest { write, done, .. }) => {
                let stored = database.write(move |transaction| store_talk(transaction, &write)).await;
                let _ = done.send(stored.map(|inputs| heard.lock().unwrap().extend(inputs)));
            }
            ShardRequest::Pay(_, _, done) => drop(done),
            ShardRequest::Close(_, done) => drop(done.send(Ok(()))),
            ShardRequest::Look(_, done) => {
                let _ = done.send(Some(view()));
            }
            ShardRequest::Forget(forgetting) => {
                let _ = forgetting.done.send(Ok(()));
            }
        }
    }
}

pub fn view() -> RoomView {
    RoomView {
        listens: true,
        mute: None,
        talk: None,
        places: Vec::new(),
        spent: Cost::default(),
        zone: "UTC".into(),
        reminders: Vec::new(),
    }
}
