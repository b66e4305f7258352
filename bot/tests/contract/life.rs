//! The real engine and store behind a stage, and a models that answers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use aizuchi::config;
use aizuchi::journal::{Records, traces};
use aizuchi::models::offline;
use aizuchi::ports::{
    BoxFuture, Caller, Commands, Draft, ModelClient, Platform, RequestedCall, Tool, ToolRequest, ToolSpec,
};
use aizuchi::runtime::{Clock, EngineEvent, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Layers;
use aizuchi_core::tools::{ToolAccess, ToolOutput};
use aizuchi_core::types::Place;
use aizuchi_core::{Input, Policies, Trace};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::PATIENCE;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

/// What a platform is made with.
pub struct Ground {
    pub folder: Scratch,
    pub database: Database,
    pub layers: Layers,
    pub policies: Policies,
}

impl Ground {
    /// It listens everywhere and may speak unasked, so that there is something to decide; an answer may be as long as the
    /// longest of [`Scribe`].
    pub fn new(assignments: &[&str]) -> Ground {
        let mut layers = config::new_layers();
        layers.suggest_for_replay();
        for assignment in
            ["models.main=offline", "models.judge=offline", "reply.tokens_full=2000"].iter().chain(assignments)
        {
            layers.add_assignment(assignment);
        }
        let folder = Scratch::new("contract");
        let database = Database::open(&folder.0.join("aizuchi.db")).unwrap();
        Ground { folder, database, policies: config::resolve(&layers).unwrap(), layers }
    }
}

pub struct BotRun {
    pub ground: Ground,
    pub events: broadcast::Sender<EngineEvent>,
    pub ready: watch::Sender<bool>,
    pub lamp: Arc<Lamp>,
    runtime: Option<Runtime>,
}

impl BotRun {
    pub async fn begin(ground: Ground, platform: Arc<dyn Platform>) -> BotRun {
        let (events, ready) = (broadcast::Sender::new(1000), watch::Sender::new(true));
        let lamp = Arc::new(Lamp::new());
        let world = RuntimeContext {
            tools: Toolset::new(vec![lamp.clone()], Vec::new()),
            keeper: None,
            clock: Clock::Wall,
            models: Arc::new(Scribe),
            platforms: vec![platform],
            events: events.clone(),
            ready: ready.clone(),
            store: StoreSettings::default(),
        };
        let runtime = Runtime::start(ground.database.clone(), ground.policies.clone(), Arc::new(world)).await.unwrap();
        BotRun { ground, events, ready, lamp, runtime: Some(runtime) }
    }

    pub fn engine(&self) -> aizuchi::runtime::EngineHandle {
        self.runtime.as_ref().expect("it lives").engine.clone()
    }

    /// Posts on their way go out, and then there is quiet.
    pub async fn rest(&mut self) {
        self.runtime.take().expect("it rests once").stop().await;
    }

    /// Everything that was written down, in order.
    pub async fn inputs(&self) -> Vec<Input> {
        let records = Records::all(&self.ground.database).await.unwrap().collect().await.unwrap();
        records.into_iter().map(|record| record.expect("nothing is damaged").input).collect()
    }

    pub async fn traces(&self) -> Vec<Trace> {
        traces::all(&self.ground.database).await.unwrap()
    }

    /// The first that is meant, once it is heard.
    pub async fn hears<T>(&self, what: &str, meant: impl Fn(&Input) -> Option<T>) -> T {
        until(what, async || self.inputs().await.iter().find_map(&meant)).await
    }

    /// What was decided about a message, once that is final.
    pub async fn decides(&self, id: &str) -> Trace {
        let found = async || self.traces().await.into_iter().find(|trace| trace.message.as_str() == id);
        until(&format!("{id} is decided"), found).await
    }
}

/// Looks again and again until there is something.
pub async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A tool that changes something.
pub struct Lamp {
    spec: ToolSpec,
    pub switched: AtomicU32,
}

impl Lamp {
    fn new() -> Lamp {
        let (name, description) = ("lamp".into(), "Switches the lamp.".into());
        let (schema, access) = (serde_json::json!({"type": "object"}), ToolAccess::Writes);
        Lamp { spec: ToolSpec { name, description, schema, access }, switched: AtomicU32::new(0) }
    }
}

impl Tool for Lamp {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, _: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        self.switched.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(ToolOutput::own("the lamp is on"))))
    }
}

/// Judges as the built-in model does, repeats what it answers, tells a lot when it is asked for everything, and switches the lamp
/// when it is asked to.
struct Scribe;

pub const POINTS: usize = 40;

/// No other point has this in it.
pub fn point(number: usize) -> String {
    format!("Point {number}:")
}

fn everything() -> String {
    let paragraph = |number| format!("{} {}\n\n", point(number), "which takes a while to explain. ".repeat(20));
    (0..POINTS).map(paragraph).collect()
}

impl ModelClient for Scribe {
    fn judge(self: Arc<Self>, ask: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Ok(offline::answer(offline::judge(&ask), &ask.transcript))))
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let meant = brief.answering.last();
        let lines = &brief.transcript.lines;
        let answered = lines.iter().find(|line| meant.is_some_and(|id| id.as_str() == line.id));
        let heard = answered.map_or("nothing", |line| line.text);
        let words = if heard.contains("everything") { everything() } else { format!("You said: {heard}") };
        Box::pin(std::future::ready(Ok(offline::answer(words, &brief.transcript))))
    }

    fn draft(
        self: Arc<Self>,
        brief: Box<Brief>,
        tools: Vec<ToolSpec>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Draft, Failure>> {
        let asks = brief.transcript.lines.iter().any(|line| line.text.contains("switch the lamp"));
        let call = || RequestedCall {
            id: "1".into(),
            name: tools[0].name.clone(),
            arguments: r#"{"room": "`kitchen`"}"#.into(),
            signatures: Vec::new(),
        };
        let drafted = match brief.steps.first() {
            Some(step) => Draft::Words(offline::answer(format!("It tells me: {}", step.words()), &brief.transcript)),
            None if asks => Draft::Calls(vec![call()], Usage::default()),
            None => {
                let writing = self.write(brief, policies);
                return Box::pin(async { writing.await.map(Draft::Words) });
            }
        };
        Box::pin(std::future::ready(Ok(drafted)))
    }
}

/// Nobody uses commands here.
pub struct NoCommands;

impl Commands for NoCommands {
    fn run<'a>(&'a self, text: &'a str, _: &'a Caller, _: &'a Place) -> BoxFuture<'a, String> {
        Box::pin(std::future::ready(text.to_owned()))
    }
}
