//! What forgetting costs: how long it takes to forget a person in a journal of a million records.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use aizuchi::journal::{Journal, ShardState};
use aizuchi::keeper::Keeper;
use aizuchi::memory::{SqliteMemory, StoredLayers};
use aizuchi::ports::{BoxFuture, JournalEntry, ModelClient};
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Visibility, Voice};
use aizuchi_core::{Engine, Input, Policies, Time};
use tokio::sync::{broadcast, watch};

const RECORDS: u64 = 1_000_000;
const ROOMS: u64 = 100;
const PEOPLE: u64 = 1_000;

/// Nobody is asked.
struct NoModel;

impl ModelClient for NoModel {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::new("no model")) })
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { Err(Failure::new("no model")) })
    }
}

fn main() {
    // How many records; `cargo bench` hands over its own flags beside.
    let records = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(RECORDS);
    let folder = std::env::temp_dir().join(format!("aizuchi-bench-forgetting-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the bench");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(measure(&folder.join("aizuchi.db"), records));
    let _ = std::fs::remove_dir_all(&folder);
}

fn said(number: u64, at: Time) -> Input {
    let person = number % PEOPLE;
    Input::Said(Message {
        id: MessageId::new(format!("m{number}")),
        place: Place::room(format!("log:{}", number % ROOMS)),
        at,
        author: Author {
            id: PersonId::new(format!("p{person}")),
            name: format!("name{person}").into(),
            voice: Voice::Person,
        },
        text: format!("the plan number {number} is about part {} of the work", number % 7_919).into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    })
}

async fn measure(path: &Path, records: u64) {
    let policies = Policies::preset("aizuchi").expect("the default is sound");
    let database = Database::open(path).expect("a store");
    let journal = Journal::new(database.clone());
    let start = Clock::Wall.now();
    let mut batch = Vec::new();
    for number in 0..records {
        let at = Time(start.0 - (records - number) * 100);
        batch.push(JournalEntry::Input(at, said(number, at)));
        if batch.len() == 1_000 {
            journal.append(0, &batch).await.expect("it is written");
            batch.clear();
        }
    }
    let engine = Engine::new(policies.clone());
    journal.take_snapshot(ShardState::of(0, start, &engine)).await.expect("it is written");
    let memory = Arc::new(SqliteMemory::new(database.clone(), StoredLayers::ALL));
    let keeper = Arc::new(Keeper::new(memory, Arc::new(NoModel), database.clone(), policies.clone()));
    let context = RuntimeContext {
        tools: Toolset::default(),
        clock: Clock::Wall,
        models: Arc::new(NoModel),
        keeper: Some(keeper.clone()),
        platforms: Vec::new(),
        events: broadcast::channel(16).0,
        ready: watch::channel(true).0,
        store: StoreSettings { keep_days: 3_650, ..StoreSettings::default() },
    };
    let runtime = Runtime::start(database, policies, Arc::new(context)).await.expect("it starts");
    for person in [7, 8, 9] {
        let begun = Instant::now();
        let ids = vec![PersonId::new(format!("p{person}"))];
        keeper.forget(ids, &[], &runtime.engine, &[]).await.expect("it can be noted");
        println!("forgetting one of {PEOPLE} people in {records} records: {:.2} s", begun.elapsed().as_secs_f64());
    }
    runtime.stop().await;
}
