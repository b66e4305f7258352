//! What remembering costs: how long it takes to recall among 100,000 facts, by words and by meaning, what a fact weighs, and how
//! long it takes to import as many. Machines differ: beside each time is how it compares with something of the same run.

use std::path::Path;
use std::time::{Duration, Instant};

use aizuchi::memory::{IMPORTED_TOGETHER, SqliteMemory, StoredLayers};
use aizuchi::ports::{Memory, MemoryCatalog};
use aizuchi::stores::Database;
use aizuchi_core::memory::{ContextTurn, ExportItem, FactDraft, FactId, Filter, MemoryChange, Origin, Query};
use aizuchi_core::types::{MessageId, PersonId, Time, Visibility, stable_hash};
use aizuchi_core::{Policies, settings::Layers};

const ROOMS: u64 = 1_000;
const FACTS_PER_ROOM: u64 = 100;
const WORDS: u64 = 20_000;
const DIMENSIONS: u64 = 384;
const QUERIES: u64 = 500;
/// Messages kept around each fact, and the words of each.
const TURNS: u64 = 4;
const TURN_WORDS: u64 = 8;

fn main() {
    // The number of houses that the rooms are spread over; `cargo bench` hands over its own flags beside.
    let named: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let houses = if named.is_empty() { vec![50, 1] } else { named };
    let folder = std::env::temp_dir().join(format!("aizuchi-bench-memory-{}", std::process::id()));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for houses in houses {
        std::fs::create_dir_all(&folder).expect("a folder for the bench");
        runtime.block_on(measure(&folder.join("aizuchi.db"), houses));
        let _ = std::fs::remove_dir_all(&folder);
    }
    std::fs::create_dir_all(&folder).expect("a folder for the bench");
    runtime.block_on(import(&folder.join("aizuchi.db")));
    let _ = std::fs::remove_dir_all(&folder);
}

/// All facts into one room, as `aizuchi memory import` takes them.
async fn import(path: &Path) {
    let policies = Layers::default().resolve(&|_| None).expect("the settings are right");
    let memory = SqliteMemory::new(Database::open(path).expect("a store"), StoredLayers::ALL);
    let facts = ROOMS * FACTS_PER_ROOM;
    let item = |number: u64| {
        let fact = fact(&reader(0, 1), 0, number).keep(FactId(number));
        MemoryChange::Imported(Box::new(ExportItem::Fact(fact)))
    };
    let mut times: Vec<f64> = Vec::new();
    for first in (0..facts).step_by(IMPORTED_TOGETHER) {
        let changes = (first..first + IMPORTED_TOGETHER as u64).map(item).collect();
        let begun = Instant::now();
        memory.apply(changes, &policies).await.expect("it is imported");
        times.push(begun.elapsed().as_secs_f64());
    }
    let (first, last) = (times[0], times[times.len() - 1]);
    println!("{facts} facts imported into one room in {:.1} s", times.iter().sum::<f64>());
    println!("  the last {IMPORTED_TOGETHER} took {:.2} times as long as the first", last / first);
}

async fn measure(path: &Path, houses: u64) {
    println!("{} facts in {ROOMS} public rooms of {houses} houses", ROOMS * FACTS_PER_ROOM);
    let policies = {
        let mut layers = Layers::default();
        layers.add_assignment("memory.facts_max=1000");
        layers.resolve(&|_| None).expect("the settings are right")
    };
    let database = Database::open(path).expect("a store");
    let memory = SqliteMemory::new(database.clone(), StoredLayers::ALL);
    let begun = Instant::now();
    for room in 0..ROOMS {
        memory.apply(vec![reflection(room, houses)], &policies).await.expect("it is kept");
    }
    let _ = database.settle().await.expect("it is settled");
    let facts = ROOMS * FACTS_PER_ROOM;
    let bytes = |path: &Path| std::fs::metadata(path).expect("it is there").len();
    let plain = bytes(path);
    println!("  kept in {:.1} s, {} bytes a fact", begun.elapsed().as_secs_f64(), plain / facts);
    recall(&memory, &policies, houses, false).await;
    embed(&memory, &policies).await;
    let _ = database.settle().await.expect("it is settled");
    println!("  {} bytes more a fact with a vector of {DIMENSIONS}", (bytes(path) - plain) / facts);
    recall(&memory, &policies, houses, true).await;
}

fn reader(room: u64, houses: u64) -> Origin {
    Origin::new(format!("discord:{}/{room}", room % houses), Visibility::Public)
}

fn reflection(room: u64, houses: u64) -> MemoryChange {
    let origin = reader(room, houses);
    let facts = (0..FACTS_PER_ROOM).map(|number| fact(&origin, room, number)).collect();
    MemoryChange::Reflected { origin: origin.clone(), up_to: 1, at: Time(0), facts, people: Vec::new() }
}

fn fact(origin: &Origin, room: u64, number: u64) -> FactDraft {
    let seed = room * FACTS_PER_ROOM + number;
    let message = MessageId::new(format!("{room}-{number}"));
    let person = PersonId::new(format!("discord:{}", draw(room, number, 1000)));
    let turn = |at: u64| ContextTurn {
        message: MessageId::new(format!("{room}-{number}-{at}")),
        person: person.clone(),
        name: format!("Person {}", draw(room, number, 1000)).into(),
        at: Time(0),
        offset: [0, -1, 1, -2][usize::try_from(at % 4).expect("a small number")],
        text: sentence(seed * TURNS + at, TURN_WORDS).into(),
    };
    FactDraft {
        origin: origin.clone(),
        content: sentence(seed, 10).into(),
        keywords: sentence(seed, 3).split(' ').map(Into::into).collect(),
        people: vec![person.clone()],
        messages: vec![message],
        context: (0..TURNS).map(turn).collect(),
        confidence: 0.9,
        shareable: true,
        at: Time(0),
        replaces: None,
    }
}

fn draw(seed: u64, number: u64, below: u64) -> u64 {
    stable_hash(seed, &number.to_string()) % below
}

/// Words of which some are frequent and most are rare, as in talk.
fn sentence(seed: u64, words: u64) -> String {
    let word = |number: u64| {
        let even = draw(seed, number, 1_000_000) as f64 / 1e6;
        format!("{}w", base_26((WORDS as f64).powf(even) as u64))
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn base_26(mut number: u64) -> String {
    let mut word = String::new();
    loop {
        word.push(char::from(b'a' + u8::try_from(number % 26).expect("a letter")));
        number /= 26;
        if number == 0 {
            return word;
        }
    }
}

fn vector(seed: u64) -> Vec<f32> {
    (0..DIMENSIONS).map(|number| draw(seed, number, 2000) as f32 / 1000.0 - 1.0).collect()
}

async fn embed(memory: &SqliteMemory, policies: &Policies) {
    loop {
        let filter = Filter { without_vector: Some("bench".into()), count: 2000, ..Filter::default() };
        let facts = memory.facts(filter).await.expect("it reads");
        if facts.is_empty() {
            return;
        }
        let embedded = facts.into_iter().map(|fact| MemoryChange::Embedded {
            fact: fact.id,
            content: fact.content,
            model: "bench".into(),
            vector: vector(fact.id.0),
        });
        memory.apply(embedded.collect(), policies).await.expect("it is kept");
    }
}

async fn recall(memory: &SqliteMemory, policies: &Policies, houses: u64, by_meaning: bool) {
    let mut times: Vec<Duration> = Vec::new();
    let mut found = 0;
    for number in 0..QUERIES {
        let query = Query {
            text: sentence(ROOMS * FACTS_PER_ROOM + number, 8),
            speaker: Some(PersonId::new("discord:7")),
            reader: reader(draw(7, number, ROOMS), houses),
            at: Time(0),
            count: 3,
            vector: by_meaning.then(|| ("bench".into(), vector(ROOMS * FACTS_PER_ROOM + number))),
            close: Vec::new(),
        };
        let begun = Instant::now();
        found += memory.recall(query, policies).await.expect("it reads").len();
        times.push(begun.elapsed());
    }
    times.sort();
    let begun = Instant::now();
    for number in 0..QUERIES {
        memory.fact(FactId(1 + draw(9, number, ROOMS * FACTS_PER_ROOM))).await.expect("it reads");
    }
    let one = begun.elapsed().as_secs_f64() * 1000.0 / QUERIES as f64;
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1000.0;
    let how = if by_meaning { "words and meaning" } else { "words" };
    println!(
        "  recall by {how}: p50 {:.2} ms, p99 {:.2} ms, {:.0} and {:.0} times reading one fact; {found} found by {QUERIES}",
        at(50),
        at(99),
        at(50) / one,
        at(99) / one
    );
}
