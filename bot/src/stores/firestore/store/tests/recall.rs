//! What makes a search cheap must not change what it finds.

use aizuchi_core::memory::Query;
use aizuchi_test_servers::firestore::shared;

use super::*;
use crate::memory::tests::{day, draft, kept, private, public};
use crate::stores::scratch;

const PEOPLE: [&str; 5] = ["Ann", "Bob", "Carol", "田中さん", "Mia"];
const DOES: [&str; 8] = [
    "likes green tea from Uji",
    "moved to Osaka last summer",
    "plays the violin in a choir",
    "は京都の大学で働いている",
    "is learning Rust and writes async code",
    "lost the keys of the blue bicycle",
    "は毎朝コーヒーを飲む",
    "wants to visit the museum of music in June",
];
const QUESTIONS: [&str; 9] = [
    "Who likes tea?",
    "Where did Bob move?",
    "musicians in the choir",
    "京都で働いているのは誰？",
    "Who writes Rust?",
    "田中さんはコーヒーを飲む？",
    "Where are the keys of the bicycle?",
    "Which museum does Mia want to visit?",
    "What did Carol lose?",
];

/// Words that more facts have than one query returns, and rooms behind walls that have them too.
#[tokio::test]
async fn common_words_and_walls_are_as_in_a_file() {
    let (lobby, garden, hidden) = (public("web:lobby"), public("web:garden"), private("web:hidden"));
    let mut facts: Vec<MemoryChange> = Vec::new();
    for round in 0..9 {
        for (who, person) in PEOPLE.iter().enumerate() {
            let room = [&lobby, &garden, &hidden][(who + round) % 3];
            facts.extend(DOES.iter().map(|does| kept(draft(room, &format!("{person} {does} in round{round}")))));
        }
    }
    let server = shared().await;
    let firestore = open(&server, "common").await;
    let (_folder, database) = scratch("common");
    let (local, policies) = (crate::memory::SqliteMemory::new(database, StoredLayers::ALL), settings(&[]));
    local.apply(facts.clone(), &policies).await.unwrap();
    firestore.make(facts).await;
    assert_eq!(local.facts(Filter::default()).await.unwrap(), firestore.all_facts().await);
    for text in QUESTIONS {
        for reader in [&lobby, &garden, &hidden, &public("discord:1/2")] {
            let query = Query {
                text: text.into(),
                speaker: None,
                reader: reader.clone(),
                at: day(1),
                count: 8,
                vector: None,
                close: Vec::new(),
            };
            let expected = local.recall(query.clone(), &policies).await.unwrap();
            let found = firestore.recall(query, &policies).await.unwrap();
            assert_eq!(found, expected, "{text} in {}", reader.room);
        }
    }
}
