//! A life with a memory, for the tests that look at what is left of it in the files.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::keeper::{ForgetState, Keeper};
use aizuchi::memory::StoredLayers;
use aizuchi::ports::{BoxFuture, Memory, ModelClient, Platform, StoreBackend as _};
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools;
use aizuchi_core::effect::{Ask, Brief, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::types::{Change, MessageId, PersonId, Place};
use aizuchi_core::{Input, Message, Policies};
use tokio::sync::{broadcast, watch};

use crate::made_up::{Board, START, Scratch, policies, said};

/// Repeats the last line that it is shown.
pub struct Parrot;

impl ModelClient for Parrot {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let text = r#"{"respond": false, "reason": "they speak of a xylophone"}"#.into();
        Box::pin(async { Ok(Answer { text, usage: Usage::default() }) })
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let last = brief.transcript.lines.iter().last().map(|line| line.text.to_owned()).unwrap_or_default();
        Box::pin(async move { Ok(Answer { text: format!("So: {last}").into(), usage: Usage::default() }) })
    }
}

pub struct RememberingLife {
    pub runtime: Runtime,
    pub keeper: Arc<Keeper>,
    pub platforms: Vec<Arc<dyn Platform>>,
    pub database: Database,
}

impl RememberingLife {
    pub async fn start(scratch: &Scratch, shards: u32) -> RememberingLife {
        RememberingLife::with_store(scratch, shards, StoreSettings::default()).await
    }

    pub async fn with_store(scratch: &Scratch, shards: u32, store: StoreSettings) -> RememberingLife {
        RememberingLife::with_model(scratch, shards, store, Arc::new(Parrot)).await
    }

    /// With the tools that the program has by default.
    pub async fn with_model(
        scratch: &Scratch,
        shards: u32,
        store: StoreSettings,
        models: Arc<dyn ModelClient>,
    ) -> RememberingLife {
        let database = scratch.database();
        let memory = database.memory(StoredLayers::ALL);
        RememberingLife::with_memory(database, shards, store, models, memory).await
    }

    /// With what is remembered elsewhere.
    pub async fn with_memory(
        database: Database,
        shards: u32,
        store: StoreSettings,
        models: Arc<dyn ModelClient>,
        memory: Arc<dyn Memory>,
    ) -> RememberingLife {
        let policies = policies(&[&format!("runtime.shards={shards}"), "memory.profiles=true"]);
        let keeper = Arc::new(Keeper::new(memory, models.clone(), database.clone(), policies.clone()));
        let platforms: Vec<Arc<dyn Platform>> = vec![Arc::new(Board::default())];
        let world = RuntimeContext {
            tools: tools::open(&aizuchi::config::new_layers(), Some(&keeper)).expect("the defaults are sound"),
            clock: Clock::starting_at(START),
            models,
            keeper: Some(keeper.clone()),
            platforms: platforms.clone(),
            events: broadcast::channel(16).0,
            ready: watch::channel(true).0,
            store,
        };
        let runtime = Runtime::start(database.clone(), policies, Arc::new(world)).await.expect("it starts");
        RememberingLife { runtime, keeper, platforms, database }
    }

    pub async fn says(&self, number: u64, room: &str, who: &str, text: &str) {
        let Input::Said(message) = said(&format!("m{number}"), START, who, text) else { unreachable!() };
        let mentions_me = text.contains("@aizuchi");
        let message = Message { place: Place::room(room), mentions_me, ..message };
        self.runtime.engine.submit(Input::Said(message)).await.expect("it listens");
    }

    /// Somebody edits a message, or deletes it.
    pub async fn changes(&self, number: u64, room: &str, text: Option<&str>) {
        let id = MessageId::new(format!("m{number}"));
        let change = Change { place: Place::room(room), id, at: START, text: text.map(Into::into) };
        self.runtime.engine.submit(Input::Changed(change)).await.expect("it listens");
    }

    pub async fn forget_mia(&self) -> ForgetState {
        let mia = vec![PersonId::new("id-mia")];
        self.keeper.forget(mia, &[], &self.runtime.engine, &self.platforms).await.expect("it can be noted").state
    }

    pub async fn jobs(&self) -> i64 {
        let count = |connection: &rusqlite::Connection| {
            connection.query_row("SELECT count(*) FROM forgetting", [], |row| row.get(0))
        };
        self.database.read(count).await.unwrap()
    }
}

/// Snapshots are taken often, and what was deleted is kept for an hour.
pub fn short_lived() -> StoreSettings {
    StoreSettings { snapshot_records: 5, deleted_hours: 1, ..StoreSettings::default() }
}

/// Talk of others, long enough for another snapshot.
pub async fn others_talk(life: &RememberingLife, from: u64) {
    for number in from..from + 20 {
        life.says(number, "log:room", "id-jonas", "a marimba here").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    life.keeper.catch_up().await.unwrap();
}

/// Whether a text is in any of the files.
pub fn holds(scratch: &Scratch, text: &str) -> bool {
    let files = std::fs::read_dir(&scratch.0).unwrap();
    files
        .map(|file| std::fs::read(file.unwrap().path()).unwrap())
        .any(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
}
