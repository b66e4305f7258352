//! What living costs: from a mention to the request, a start over a long journal, memory of many rooms. Figures are
//! ratios against something measured in the same run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aizuchi::journal::{Journal, JournalEntry, Records, ShardState, recover};
use aizuchi::ports::{BoxFuture, ModelClient, Platform, PostError, PostRequest, Stores};
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Visibility, Voice};
use aizuchi_core::{Engine, Input, Policies, Time};
use tokio::sync::{broadcast, mpsc, watch};

const RATE: u64 = 1_000;
const SECONDS: u64 = 20;
/// One of this many messages is a mention.
const MENTION_EVERY: u64 = 20;
const ROOMS: u64 = 100;
const RECORDS: u64 = 1_000_000;
const MANY_ROOMS: u64 = 10_000;

fn main() {
    // `latency`, `restart` or `memory` alone, or all; `cargo bench` hands over its own flags beside.
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|given| given == name);
    let folder = std::env::temp_dir().join(format!("aizuchi-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the bench");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        if wanted("latency") {
            mention_to_request(&folder.join("latency")).await;
        }
        if wanted("restart") {
            restart(&folder.join("restart")).await;
        }
        if wanted("memory") {
            memory(&folder.join("memory")).await;
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
}

/// A model client that notes when it is asked, and has nothing to say.
struct Noting {
    asked: mpsc::UnboundedSender<(MessageId, Instant)>,
}

impl ModelClient for Noting {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Err(Failure::new("no judge"))))
    }

    fn write(self: Arc<Self>, brief: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let newest = brief.answering.last().expect("it answers something").clone();
        let _ = self.asked.send((newest, Instant::now()));
        Box::pin(std::future::ready(Ok(Answer { text: "mm-hm".into(), usage: Default::default() })))
    }
}

/// A platform that takes everything.
struct Everywhere;

impl Platform for Everywhere {
    fn name(&self) -> &'static str {
        "bench"
    }
    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>> {
        Box::pin(std::future::ready(Ok(MessageId::new(posting.key))))
    }
    fn react<'a>(&'a self, _: &'a Place, _: &'a MessageId, _: &'a str) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(std::future::ready(Ok(())))
    }
    fn typing<'a>(&'a self, _: &'a Place) -> BoxFuture<'a, ()> {
        Box::pin(std::future::ready(()))
    }
}

fn message(number: u64, mention: bool, at: Time, rooms: u64) -> Input {
    let author = format!("person{}", number % 7);
    let text =
        if mention { "aizuchi, what do you think?" } else { "and then the rain came, and we all went home again" };
    Input::Said(Message {
        id: MessageId::new(format!("m{number}")),
        place: Place::room(format!("bench:room{}", number * 7919 % rooms)),
        at,
        author: Author { id: PersonId::new(&author), name: author.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    })
}

async fn start(folder: &Path) -> (Runtime, Database, mpsc::UnboundedReceiver<(MessageId, Instant)>) {
    std::fs::create_dir_all(folder).expect("a folder");
    let database = Database::open(&folder.join("aizuchi.db")).expect("a store");
    let (asked, requests) = mpsc::unbounded_channel();
    let world = RuntimeContext {
        tools: Toolset::default(),
        keeper: None,
        clock: Clock::Wall,
        models: Arc::new(Noting { asked }),
        platforms: vec![Arc::new(Everywhere)],
        events: broadcast::channel(16).0,
        ready: watch::channel(true).0,
        store: StoreSettings::default(),
    };
    let policies = Policies::preset("aizuchi").expect("the default is sound");
    let runtime = Runtime::start(database.clone(), policies, Arc::new(world)).await.expect("it starts");
    (runtime, database, requests)
}

async fn mention_to_request(folder: &Path) {
    let (runtime, database, mut requests) = start(folder).await;
    let commit = median(durable_writes(&database).await);
    let mut told = std::collections::HashMap::new();
    let started = Instant::now();
    for number in 1..=RATE * SECONDS {
        tokio::time::sleep_until((started + Duration::from_micros(number * 1_000_000 / RATE)).into()).await;
        let now = Instant::now();
        let mention = number.is_multiple_of(MENTION_EVERY);
        if mention {
            told.insert(MessageId::new(format!("m{number}")), now);
        }
        let engine = runtime.engine.clone();
        let input = message(number, mention, Clock::Wall.now(), ROOMS);
        tokio::spawn(async move { engine.submit(input).await });
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    runtime.stop().await;
    let mut waits = Vec::new();
    while let Ok((id, asked)) = requests.try_recv() {
        waits.extend(told.remove(&id).map(|told| asked - told));
    }
    waits.sort();
    let at = |share: f64| waits[((waits.len() - 1) as f64 * share) as usize];
    println!(
        "mention to request at {RATE} messages/s, durable journal: p50 {:.2} ms, p99 {:.2} ms over {} mentions; one durable write alone {:.2} ms: p50 {:.2}, p99 {:.2} of it",
        ms(at(0.5)),
        ms(at(0.99)),
        waits.len(),
        ms(commit),
        at(0.5).as_secs_f64() / commit.as_secs_f64(),
        at(0.99).as_secs_f64() / commit.as_secs_f64(),
    );
}

async fn durable_writes(database: &Database) -> Vec<Duration> {
    let journal = Journal::new(database.clone());
    let mut waits = Vec::new();
    for number in 0..200 {
        let started = Instant::now();
        journal
            .append(99, &[JournalEntry::Input(Time(0), message(number, false, Time(0), 1))])
            .await
            .expect("it is written");
        waits.push(started.elapsed());
    }
    let clean =
        |transaction: &rusqlite::Transaction<'_>| transaction.execute("DELETE FROM journal WHERE shard = 99", []);
    database.write(clean).await.expect("it is cleaned");
    waits
}

fn median(mut waits: Vec<Duration>) -> Duration {
    waits.sort();
    waits[waits.len() / 2]
}

fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// A start over a million records: from the last snapshot as it usually is, and from nothing but the journal.
async fn restart(folder: &Path) {
    let (runtime, database, _requests) = start(folder).await;
    runtime.stop().await;
    let journal = Journal::new(database.clone());
    let policies = Policies::preset("aizuchi").expect("the default is sound");
    let (mut engine, mut effects) = (Engine::new(policies.clone()), Vec::new());
    let usual = u64::from(StoreSettings::default().snapshot_records);
    let start = Clock::Wall.now();
    let mut batch = Vec::new();
    for number in 1..=RECORDS {
        let at = Time(start.0 + number * 100);
        let input = message(number, false, at, ROOMS);
        engine.handle(at, input.clone(), &mut effects);
        effects.clear();
        batch.push(JournalEntry::Input(at, input));
        if batch.len() == 1_000 {
            let seq = journal.append(0, &batch).await.expect("it is written").seq;
            batch.clear();
            if number == RECORDS - usual {
                let snapshot = engine.snapshot();
                journal
                    .take_snapshot(ShardState {
                        shard: 0,
                        shards: 1,
                        seq: Some(seq),
                        at,
                        policies: policies.stated(),
                        snapshot,
                    })
                    .await
                    .expect("it is written");
            }
        }
    }
    let path: PathBuf = folder.join("aizuchi.db");
    let reading = Database::open_to_read(&path).expect("it opens");
    let started = Instant::now();
    let mut records = Records::all(&reading).await.expect("it reads");
    while records.next().await.expect("it reads").is_some() {}
    let read = started.elapsed();
    let stores = Stores::from(&reading);
    let recovering = async || {
        let started = Instant::now();
        let records = recover(&stores, &policies, 1).await.expect("it recovers").records;
        (started.elapsed(), records)
    };
    let from_snapshot = recovering().await;
    let forget = |transaction: &rusqlite::Transaction<'_>| transaction.execute("DELETE FROM snapshot", []);
    database.write(forget).await.expect("snapshots go");
    let from_nothing = recovering().await;
    println!(
        "start over {RECORDS} records: {:.0} ms with the last snapshot ({} records handled again), {:.0} ms without any ({} records); reading them alone takes {:.0} ms: {:.3} and {:.2} of it",
        ms(from_snapshot.0),
        from_snapshot.1,
        ms(from_nothing.0),
        from_nothing.1,
        ms(read),
        from_snapshot.0.as_secs_f64() / read.as_secs_f64(),
        from_nothing.0.as_secs_f64() / read.as_secs_f64(),
    );
}

/// The running program with many rooms, against the text it has to remember.
async fn memory(folder: &Path) {
    let before = resident();
    let (runtime, _database, _requests) = start(folder).await;
    let each = 50;
    let mut text = 0_u64;
    for number in 0..MANY_ROOMS * each {
        let input = message(number, false, Clock::Wall.now(), MANY_ROOMS);
        if let Input::Said(message) = &input {
            text += (message.text.len() + message.id.as_str().len() + message.author.name.len()) as u64;
        }
        let engine = runtime.engine.clone();
        let hearing = tokio::spawn(async move { engine.submit(input).await });
        if number.is_multiple_of(500) {
            let _ = hearing.await;
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let used = resident().saturating_sub(before);
    println!(
        "memory at {MANY_ROOMS} rooms with {each} messages each: {:.0} MB, {:.0} bytes a room, {:.2} of the text, names and ids",
        used as f64 / 1e6,
        used as f64 / MANY_ROOMS as f64,
        used as f64 / text as f64,
    );
    runtime.stop().await;
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}
