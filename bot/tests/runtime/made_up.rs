//! A made-up world: a platform in memory that posts a key once, and a model client that answers by script.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi::ports::{BoxFuture, ModelClient, Platform, PostError, PostRequest};
use aizuchi::runtime::{Clock, EngineEvent, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Layers;
use aizuchi_core::sim::{Oracle as _, ScriptLine, StandIn};
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Span, Visibility, Voice};
use aizuchi_core::{Input, Policies, Time};
use aizuchi_test_servers::folder;
use tokio::sync::{broadcast, watch};

/// A folder of its own for each test, removed in the end.
pub struct Scratch(pub folder::Scratch);

impl Scratch {
    pub fn new() -> Scratch {
        Scratch(folder::Scratch::new("runtime"))
    }

    /// For hundreds of deaths of the program. The machine lives on, so that no disk has to keep anything.
    pub fn in_memory() -> Scratch {
        Scratch(folder::Scratch::in_memory("runtime"))
    }

    pub fn database(&self) -> Database {
        Database::open(&self.0.join("aizuchi.db")).expect("a new store opens")
    }
}

/// Rooms of this platform are named `log:…`.
#[derive(Default)]
pub struct Board {
    /// What was posted, by key, in order.
    pub posts: Mutex<Vec<(String, String)>>,
    pub reactions: Mutex<Vec<(String, String)>>,
    pub typed: AtomicU64,
    /// How often a post of this key is to be refused before it goes out.
    pub refusals: Mutex<HashMap<String, u32>>,
    /// Posts that do not return until somebody lets them.
    pub held: Mutex<Option<watch::Receiver<bool>>>,
    /// How long the way to the platform takes, and the way back.
    pub way: Duration,
    /// Whether its messages carry the time of our own clock.
    pub dated_here: bool,
}

impl Platform for Board {
    fn name(&self) -> &'static str {
        "log"
    }

    fn dates_by_our_clock(&self) -> bool {
        self.dated_here
    }

    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        Box::pin(async move {
            tokio::time::sleep(self.way).await;
            if let Some(left) = self.refusals.lock().unwrap().get_mut(posting.key).filter(|left| **left > 0) {
                *left -= 1;
                return Err(PostError::TryLater { after: Some(Duration::from_secs(3)), what: "busy".into() });
            }
            {
                let mut posts = self.posts.lock().unwrap();
                if !posts.iter().any(|(key, _)| key == posting.key) {
                    posts.push((posting.key.to_owned(), posting.text.to_owned()));
                }
            }
            tokio::time::sleep(self.way).await;
            let held = self.held.lock().unwrap().clone();
            if let Some(mut held) = held {
                let _ = held.wait_for(|free| *free).await;
            }
            Ok(MessageId::new(format!("post {}", posting.key)))
        })
    }

    fn react<'a>(&'a self, _: &'a Place, to: &'a MessageId, emoji: &'a str) -> BoxFuture<'a, Result<(), PostError>> {
        self.reactions.lock().unwrap().push((to.to_string(), emoji.to_owned()));
        Box::pin(std::future::ready(Ok(())))
    }

    fn withdraw<'a>(&'a self, _: &'a Place, post: &'a MessageId) -> BoxFuture<'a, Result<(), PostError>> {
        self.posts.lock().unwrap().retain(|(key, _)| format!("post {key}") != post.as_str());
        Box::pin(std::future::ready(Ok(())))
    }

    fn typing<'a>(&'a self, _: &'a Place) -> BoxFuture<'a, ()> {
        self.typed.fetch_add(1, Ordering::Relaxed);
        Box::pin(std::future::ready(()))
    }
}

/// Answers as the stand-in of a replay does, and takes as long.
pub struct Scripted {
    stand_in: Mutex<StandIn>,
    /// Calls that were begun and not finished.
    pub under_way: Arc<AtomicU64>,
}

struct UnderWay(Arc<AtomicU64>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Scripted {
    pub fn new(agrees: bool, lines: Vec<ScriptLine>, policies: &Policies) -> Arc<Scripted> {
        let stand_in = Mutex::new(StandIn::new(agrees, lines, policies));
        Arc::new(Scripted { stand_in, under_way: Arc::default() })
    }

    fn answer(
        &self,
        (latency, answer): (Span, Result<Answer, Failure>),
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        self.under_way.fetch_add(1, Ordering::Relaxed);
        let under_way = UnderWay(self.under_way.clone());
        Box::pin(async move {
            let _under_way = under_way;
            if latency > Span::ZERO {
                tokio::time::sleep(Duration::from_millis(latency.0)).await;
            }
            answer
        })
    }
}

impl ModelClient for Scripted {
    fn judge(self: Arc<Self>, ask: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let answer = self.stand_in.lock().unwrap().judge(&ask);
        self.answer(answer)
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let answer = self.stand_in.lock().unwrap().write(&brief);
        self.answer(answer)
    }
}

/// A program that runs, with what it runs on.
pub struct EngineRun {
    pub runtime: Runtime,
    pub events: broadcast::Receiver<EngineEvent>,
    pub ready: watch::Receiver<bool>,
    pub clock: Clock,
}

impl EngineRun {
    pub async fn start(
        database: Database,
        policies: Policies,
        models: Arc<dyn ModelClient>,
        board: Arc<Board>,
        clock: Clock,
    ) -> EngineRun {
        EngineRun::with_store(StoreSettings::default(), database, policies, models, board, clock).await
    }

    pub async fn with_store(
        store: StoreSettings,
        database: Database,
        policies: Policies,
        models: Arc<dyn ModelClient>,
        board: Arc<Board>,
        clock: Clock,
    ) -> EngineRun {
        EngineRun::with_tools(Toolset::default(), store, database, policies, models, board, clock).await
    }

    pub async fn with_tools(
        tools: Toolset,
        store: StoreSettings,
        database: Database,
        policies: Policies,
        models: Arc<dyn ModelClient>,
        board: Arc<Board>,
        clock: Clock,
    ) -> EngineRun {
        let (events, watched) = broadcast::channel(100_000);
        let (ready, is_ready) = watch::channel(true);
        let world = RuntimeContext { tools, clock, models, platforms: vec![board], keeper: None, events, ready, store };
        let runtime = Runtime::start(database, policies, Arc::new(world)).await.expect("it starts");
        EngineRun { runtime, events: watched, ready: is_ready, clock }
    }

    pub async fn hear(&self, input: Input) {
        self.runtime.engine.submit(input).await.expect("it listens");
    }
}

/// A snapshot is taken after so many records.
pub fn saving_after(snapshot_records: u32) -> StoreSettings {
    StoreSettings { snapshot_records, ..StoreSettings::default() }
}

pub fn policies(settings: &[&str]) -> Policies {
    let mut layers = Layers::default();
    layers.suggest_for_replay();
    settings.iter().for_each(|setting| layers.add_assignment(setting));
    layers.resolve(&|_| None).expect("the settings of a test are right")
}

pub fn said(id: &str, at: Time, author: &str, text: &str) -> Input {
    Input::Said(Message {
        id: MessageId::new(id),
        place: Place::room("log:room"),
        at,
        author: Author { id: PersonId::new(author), name: author.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    })
}

pub const START: Time = Time(1_775_563_200_000);

pub fn line(question: &str, answer: &str, latency_ms: u64) -> ScriptLine {
    ScriptLine { question: question.into(), holds: None, answer: Ok(answer.into()), latency: Span(latency_ms) }
}
