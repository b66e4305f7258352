//! What is remembered is found alike: the same facts, in the same order, with the same scores.

use aizuchi_core::memory::{MemoryChange, Origin, Query};
use aizuchi_core::types::{PersonId, Visibility, stable_hash};
#[cfg(feature = "postgres")]
use aizuchi_test_servers::folder::Scratch;

use super::{Answers, compare_memory};
use crate::memory::tests::{day, draft, settings};
use crate::ports::MemoryStore;

const WORDS: [&str; 24] = [
    "tea",
    "teas",
    "garden",
    "gardens",
    "gardening",
    "tomato",
    "tomatoes",
    "music",
    "musical",
    "kyoto",
    "京都",
    "散歩",
    "お茶",
    "抹茶",
    "犬",
    "dog",
    "Ann",
    "Bob",
    "yesterday",
    "2023",
    "it's",
    "C++",
    "naïve",
    "ＲＵＳＴ",
];
const FACTS: u64 = 240;
const QUESTIONS: u64 = 60;

fn draw(seed: u64, number: u64, below: u64) -> u64 {
    stable_hash(seed, &number.to_string()) % below
}

fn sentence(seed: u64, words: u64) -> String {
    let word = |number| WORDS[draw(seed, number, WORDS.len() as u64) as usize];
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn room(number: u64) -> Origin {
    let visibility = if number.is_multiple_of(3) { Visibility::Private } else { Visibility::Public };
    Origin::new(format!("discord:{}/{number}", number % 2), visibility)
}

fn vector(seed: u64) -> Vec<f32> {
    (0..8).map(|number| draw(seed, number, 2000) as f32 / 1000.0 - 1.0).collect()
}

async fn remember(memory: &dyn MemoryStore) {
    let policies = settings(&[]);
    for number in 0..FACTS {
        let mut fact = draft(&room(number % 7), &format!("{} number{number}", sentence(number, 5)));
        fact.at = day(number % 90);
        fact.people = vec![PersonId::new(format!("discord:{}", number % 5))];
        memory.apply(vec![MemoryChange::Kept(Box::new(fact))], &policies).await.unwrap();
    }
    let facts = memory.facts(aizuchi_core::memory::Filter::default()).await.unwrap();
    let embedded = facts.into_iter().map(|fact| MemoryChange::Embedded {
        vector: vector(fact.id.0),
        fact: fact.id,
        content: fact.content,
        model: "m".into(),
    });
    memory.apply(embedded.collect(), &policies).await.unwrap();
}

async fn ask(memory: &dyn MemoryStore, answers: &mut Answers) {
    let policies = settings(&[]);
    for number in 0..QUESTIONS {
        let mut text = sentence(1_000 + number, 4);
        if number.is_multiple_of(5) {
            text += " last month";
        }
        let query = Query {
            text,
            speaker: Some(PersonId::new("discord:3")),
            reader: room(number % 7),
            at: day(80),
            count: 8,
            vector: number.is_multiple_of(2).then(|| ("m".into(), vector(5_000 + number))),
            close: Vec::new(),
        };
        let found = memory.recall(query, &policies).await.unwrap();
        let shown: Vec<_> = found.iter().map(|one| (one.fact.id, format!("{:.9}", one.score), one.allowed)).collect();
        answers.note("found", shown);
    }
}

#[tokio::test]
async fn the_same_is_found_in_the_same_order_everywhere() {
    compare_memory("recall", async |memory, answers| {
        remember(memory).await;
        ask(memory, answers).await;
    })
    .await;
}

/// Readers are in rooms of two servers, each of which has an index; three rooms are private, and have none.
#[cfg(feature = "postgres")]
#[tokio::test]
async fn the_same_is_found_through_an_index_of_vectors() {
    use crate::memory::StoredLayers;
    use crate::ports::StoreBackend as _;

    let folder = Scratch::new("recall-indexed");
    let (mut expected, mut answers) = (Answers::default(), Answers::default());
    let sqlite = super::open("sqlite", &folder).await.memory(StoredLayers::ALL);
    remember(&*sqlite).await;
    ask(&*sqlite, &mut expected).await;
    let database = crate::stores::postgres::scratch_indexing_from(&folder, 50).await;
    let memory = database.memory(StoredLayers::ALL);
    remember(&*memory).await;
    database.index_again();
    database.until_indexed(2).await;
    ask(&*memory, &mut answers).await;
    answers.check(&expected, "postgres with an index of vectors");
}
