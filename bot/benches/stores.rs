//! What the stores cost, SQLite beside PostgreSQL on the same disk and in the same run: durable appends, reading a journal at a start, bytes a
//! record, and recalling facts by words and by meaning, then by words among ten times as many. `-- RECORDS FACTS MANY_FACTS` sets the sizes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aizuchi::journal::{Records, recover};
use aizuchi::memory::StoredLayers;
use aizuchi::ports::{JournalEntry, MemoryStore, StoreBackend, StoreKind};
use aizuchi::stores::Database;
use aizuchi::stores::postgres::{PgTarget, PostgresDatabase};
use aizuchi_core::memory::{FactDraft, Filter, MemoryChange, Origin, Query};
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice, stable_hash};
use aizuchi_core::{Input, Policies, settings::Layers};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion};

const RECORDS: u64 = 1_000_000;
const FACTS: u64 = 100_000;
const MANY_FACTS: u64 = 1_000_000;
const FACTS_OF_A_ROOM: u64 = 100;
/// Records of one append, as a busy room has them together, and appends that wait for each other.
const TOGETHER: u64 = 500;
const APPENDS: u64 = 300;
const ROOMS: u64 = 100;
const QUERIES: u64 = 300;
const DIMENSIONS: u64 = 384;

fn main() {
    let sizes: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let size = |index: usize, usual: u64| sizes.get(index).copied().unwrap_or(usual);
    let (records, facts, many_facts) = (size(0, RECORDS), size(1, FACTS), size(2, MANY_FACTS));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let folder = Scratch::new("bench-stores");
        let server = PostgresServer::start(PostgresOptions {
            version: PostgresVersion::WithVector,
            durable: true,
            extra: vec!["shared_buffers=512MB".into(), "max_wal_size=4GB".into()],
            ..PostgresOptions::default()
        })
        .await;
        let database = server.empty_database().await;
        server.psql(&database, "create extension vector").await;
        let open = async || {
            let target = PgTarget::new(&server.url(&database).into(), &|_| None).expect("a sound address");
            let opened = PostgresDatabase::open(target, folder.join("postgres")).await.expect("a database");
            Arc::new(opened) as Arc<dyn StoreBackend>
        };
        let file = folder.join("aizuchi.db");
        let sqlite: Arc<dyn StoreBackend> = Arc::new(Database::open(&file).expect("a file"));
        let postgres = open().await;
        for (name, store) in [("SQLite", &sqlite), ("PostgreSQL", &postgres)] {
            journal(name, &**store, records).await;
        }
        let bytes = std::fs::metadata(&file).expect("it is there").len();
        let relation = server.psql(&database, "select pg_total_relation_size('journal')").await;
        let relation: u64 = relation.trim().parse().expect("a number");
        println!("bytes a record: SQLite {} (the whole file), PostgreSQL {}", bytes / records, relation / records);
        for (name, mut store) in [("SQLite", sqlite), ("PostgreSQL", postgres)] {
            let mut memory = store.memory(StoredLayers::ALL);
            let (rooms, all_rooms) = (facts.div_ceil(FACTS_OF_A_ROOM), many_facts.div_ceil(FACTS_OF_A_ROOM));
            remember(name, &*memory, 0..rooms).await;
            recall(name, &*memory, rooms, "words", SMALL_SERVERS).await;
            embed(name, &*memory).await;
            if store.kind() == StoreKind::Postgres {
                drop((memory, store));
                store = open().await;
                memory = store.memory(StoredLayers::ALL);
                until_indexed(&server, &database).await;
            }
            recall(name, &*memory, rooms, "words and meaning", SMALL_SERVERS).await;
            recall(name, &*memory, rooms, "words and meaning", LARGE_SERVER).await;
            remember(name, &*memory, rooms..all_rooms).await;
            recall(name, &*memory, all_rooms, "words", SMALL_SERVERS).await;
        }
    });
}

fn policies() -> Policies {
    let mut layers = Layers::default();
    layers.add_assignment("memory.facts_max=1000000");
    layers.resolve(&|_| None).expect("the settings are right")
}

fn said(number: u64) -> JournalEntry {
    let (person, at) = (number % 1_000, Time(1_700_000_000_000 + number * 50));
    let message = Message {
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
    };
    JournalEntry::Input(at, Input::Said(message))
}

async fn journal(name: &str, store: &dyn StoreBackend, records: u64) {
    let (stores, mut number) = (store.stores(), 0);
    let mut next = |count: u64| {
        let entries: Vec<JournalEntry> = (number..number + count).map(said).collect();
        number += count;
        entries
    };
    let begun = Instant::now();
    for _ in 0..APPENDS {
        stores.journal.append(0, &next(1)).await.expect("it is recorded");
    }
    let single = begun.elapsed().as_secs_f64() / APPENDS as f64;
    let begun = Instant::now();
    let many = records.saturating_sub(APPENDS) / TOGETHER;
    for _ in 0..many {
        stores.journal.append(0, &next(TOGETHER)).await.expect("it is recorded");
    }
    let rate = (many * TOGETHER) as f64 / begun.elapsed().as_secs_f64();
    println!("{name}: one durable append {:.2} ms; {rate:.0} records a second, {TOGETHER} together", single * 1000.0);
    let begun = Instant::now();
    let mut read = Records::all(&*stores.journal).await.expect("it can be read");
    let mut count: u64 = 0;
    while read.next().await.expect("it can be read").is_some() {
        count += 1;
    }
    let reading = begun.elapsed();
    let begun = Instant::now();
    recover(&stores, &policies(), 1).await.expect("it can be lived again");
    println!(
        "{name}: {count} records read in {:.1} s, lived again at a start without a snapshot in {:.1} s",
        reading.as_secs_f64(),
        begun.elapsed().as_secs_f64()
    );
}

fn draw(seed: u64, number: u64, below: u64) -> u64 {
    stable_hash(seed, &number.to_string()) % below
}

/// Words of which some are frequent and most are rare, as in talk.
fn sentence(seed: u64, words: u64) -> String {
    let word = |number: u64| {
        let even = draw(seed, number, 1_000_000) as f64 / 1e6;
        let mut rank = 20_000_f64.powf(even) as u64;
        let mut letters = String::from("w");
        while rank > 0 {
            letters.push(char::from(b'a' + u8::try_from(rank % 26).expect("a letter")));
            rank /= 26;
        }
        letters
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn vector(seed: u64) -> Vec<f32> {
    (0..DIMENSIONS).map(|number| draw(seed, number, 2000) as f32 / 1000.0 - 1.0).collect()
}

/// Half of the rooms are on one server, the others on many.
const LARGE_SERVER: u64 = 0;
const SMALL_SERVERS: u64 = 1;

fn reader(room: u64) -> Origin {
    let server = if room % 2 == LARGE_SERVER { 0 } else { 1 + room % 49 };
    Origin::new(format!("discord:{server}/{room}"), Visibility::Public)
}

/// The index of the large server, and of no other, is made beside the program.
async fn until_indexed(server: &PostgresServer, database: &str) {
    let begun = Instant::now();
    let made = "select count(*) from pg_index as i join pg_class as c on c.oid = i.indexrelid join pg_am as a on a.oid = c.relam
        where a.amname = 'hnsw' and i.indisvalid";
    while server.psql(database, made).await == "0" && begun.elapsed() < Duration::from_mins(20) {
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let made = server.psql(database, made).await;
    println!("PostgreSQL: {made} index of vectors {:.0} s after the start", begun.elapsed().as_secs_f64());
}

async fn remember(name: &str, memory: &dyn MemoryStore, rooms: std::ops::Range<u64>) {
    let (policies, begun) = (policies(), Instant::now());
    let count = (rooms.end - rooms.start) * FACTS_OF_A_ROOM;
    for room in rooms {
        let origin = reader(room);
        let fact = |number: u64| FactDraft {
            origin: origin.clone(),
            content: sentence(room * FACTS_OF_A_ROOM + number, 10).into(),
            keywords: Vec::new(),
            people: vec![PersonId::new(format!("discord:{}", draw(room, number, 1000)))],
            messages: vec![MessageId::new(format!("{room}-{number}"))],
            context: Vec::new(),
            confidence: 0.9,
            shareable: true,
            at: Time(0),
            replaces: None,
        };
        let facts = (0..FACTS_OF_A_ROOM).map(fact).collect();
        let change = MemoryChange::Reflected { origin: reader(room), up_to: 1, at: Time(0), facts, people: Vec::new() };
        memory.apply(vec![change], &policies).await.expect("it is kept");
    }
    println!("{name}: {count} facts kept in {:.1} s", begun.elapsed().as_secs_f64());
}

/// Gives every fact a vector.
async fn embed(name: &str, memory: &dyn MemoryStore) {
    let (policies, begun) = (policies(), Instant::now());
    loop {
        let filter = Filter { without_vector: Some("bench".into()), count: 2000, ..Filter::default() };
        let facts = memory.facts(filter).await.expect("it reads");
        if facts.is_empty() {
            break;
        }
        let embedded = facts.into_iter().map(|fact| MemoryChange::Embedded {
            fact: fact.id,
            content: fact.content,
            model: "bench".into(),
            vector: vector(fact.id.0),
        });
        memory.apply(embedded.collect(), &policies).await.expect("it is kept");
    }
    println!("{name}: vectors kept in {:.1} s", begun.elapsed().as_secs_f64());
}

async fn recall(name: &str, memory: &dyn MemoryStore, rooms: u64, how: &str, servers: u64) {
    let policies = policies();
    let mut times: Vec<Duration> = Vec::new();
    for number in 0..QUERIES {
        let query = Query {
            text: sentence(rooms * FACTS_OF_A_ROOM + number, 8),
            speaker: Some(PersonId::new("discord:7")),
            reader: reader(draw(7, number, rooms / 2) * 2 + servers),
            at: Time(0),
            count: 3,
            vector: (how != "words").then(|| ("bench".into(), vector(rooms * FACTS_OF_A_ROOM + number))),
            close: Vec::new(),
        };
        let begun = Instant::now();
        memory.recall(query, &policies).await.expect("it reads");
        times.push(begun.elapsed());
    }
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
    let size = if servers == LARGE_SERVER { "half of them" } else { "a fiftieth" };
    println!(
        "{name}: recall by {how} among {} facts by readers who may know {size}: p50 {:.2} ms, p99 {:.2} ms",
        rooms * FACTS_OF_A_ROOM,
        at(50),
        at(99)
    );
}
