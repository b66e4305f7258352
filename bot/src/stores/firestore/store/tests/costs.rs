//! What is billed for a message and for an answer. The book has these numbers.

use aizuchi_core::memory::Query;
use aizuchi_core::types::{PersonId, Time, Visibility};

use aizuchi_test_servers::firestore::shared;

use super::journals::{bot, make};
use super::*;
use crate::memory::tests::{answered, day, draft, heard, kept, public, reflected, summarized};

/// Reads, writes, deletions and calls of what is done.
async fn billed(memory: &FirestoreMemory, work: impl Future) -> [u64; 4] {
    let before = memory.client().billed.so_far();
    work.await;
    let after = memory.client().billed.so_far();
    std::array::from_fn(|at| after[at] - before[at])
}

fn query(text: &str, at: Time) -> Query {
    let reader = public("web:lobby");
    Query { text: text.into(), speaker: None, reader, at, count: 5, vector: None, close: Vec::new() }
}

#[tokio::test]
async fn a_message_and_an_answer_cost_what_the_book_says() {
    let server = shared().await;
    let memory = open(&server, "costs").await;
    let lobby = public("web:lobby");
    let facts = |from: u32, to: u32| (from..to).map(|number| draft(&lobby, &format!("locker {number} is empty")));
    memory.make([heard(&lobby, 1, "ann", "Ann", "x"), reflected(&lobby, 1, facts(0, 200).collect(), vec![])]).await;
    let message = billed(&memory, memory.make([heard(&lobby, 2, "ann", "Ann", "x")])).await;
    assert_eq!(message, [3, 2, 0, 2], "who it is, whether they opted out, and how far was read");
    let known = billed(&memory, memory.make([heard(&lobby, 2, "ann", "Ann", "x")])).await;
    assert_eq!(known, [3, 0, 0, 2], "nothing is written of what was counted before");
    memory.make([answered(&lobby, "ann", "bob", &[])]).await;
    let answer = billed(&memory, memory.make([answered(&lobby, "ann", "bob", &[])])).await;
    assert_eq!(answer, [3, 1, 0, 2], "two who may have opted out, and their tie");
    let summary = billed(&memory, memory.make([summarized(&lobby, 9, "Lockers.", &[("ann", "Ann")])])).await;
    assert_eq!(summary, [3, 2, 0, 2]);
    let policies = settings(&[]);
    let recalled = billed(&memory, memory.recall(query("Which state has locker 77?", day(1)), &policies)).await;
    assert_eq!(
        recalled,
        [206, 0, 0, 7],
        "the facts that have a word of it, each once, and one for each word and its forms"
    );
    let fact = billed(&memory, memory.make([kept(draft(&lobby, "the office moved to Kyoto last week"))])).await;
    assert_eq!(fact, [3, 2, 0, 4], "whether it is known, how many there are, and the last number");
    let elsewhere =
        Query { reader: aizuchi_core::memory::Origin::new("web:x", Visibility::Direct), ..query("locker", day(1)) };
    let nothing = billed(&memory, memory.recall(elsewhere, &policies)).await;
    assert!(nothing[0] <= 6, "what is behind a wall is not read: {nothing:?}");
}

/// Somebody who opted out goes on talking.
#[tokio::test]
async fn a_message_of_somebody_who_opted_out_costs_one_read_however_much_is_remembered() {
    let emulator = FirestoreServer::start().await;
    let (_folder, memory) = bot(&emulator, "out").await;
    let lobby = public("web:lobby");
    let zoe = PersonId::new("web:zoe");
    make(&*memory, vec![MemoryChange::OptedOut { person: zoe.clone(), out: true }]).await;
    let calls = || ["RunQuery", "BatchGetDocuments", "Commit"].map(|call| emulator.calls(call));
    let before = calls();
    make(&*memory, vec![heard(&lobby, 1, "web:zoe", "Zoe", "x"), answered(&lobby, "web:zoe", "web:bob", &[])]).await;
    let after = calls();
    let made: [u64; 3] = std::array::from_fn(|at| after[at] - before[at]);
    assert_eq!(made, [0, 1, 0], "whether it is known there");
    assert!(memory.people(None).await.unwrap().is_empty() && memory.ties(None, None).await.unwrap().is_empty());
}

#[tokio::test]
async fn who_opted_out_of_many_costs_as_much_as_did() {
    let server = shared().await;
    let memory = open(&server, "who-is-out").await;
    let people: Vec<PersonId> = (0..100).map(|number| PersonId::new(format!("web:{number}"))).collect();
    memory.make(people[..2].iter().map(|person| MemoryChange::OptedOut { person: person.clone(), out: true })).await;
    let many = billed(&memory, async { assert_eq!(memory.who_opted_out(&people).await.unwrap(), people[..2]) }).await;
    assert_eq!(many, [2, 0, 0, 1]);
    let few = billed(&memory, async { assert_eq!(memory.who_opted_out(&people[1..5]).await.unwrap(), people[1..2]) });
    assert_eq!(few.await, [4, 0, 0, 1]);
}
