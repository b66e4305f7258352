//! More than fits into one commit, and more than fits into one document.

use aizuchi_core::types::Visibility;
use aizuchi_test_servers::firestore::shared;

use super::*;
use crate::memory::tests::{draft, forget, kept, private, public, reflected, sourced, summarized};

fn many(count: usize) -> Vec<MemoryChange> {
    let lobby = public("web:lobby");
    let fact = |number: usize| sourced(&lobby, &format!("locker {number} is empty"), &[("web:zoe", "m1")]);
    vec![
        summarized(&lobby, 1, "About lockers.", &[("web:zoe", "Zoe")]),
        reflected(&lobby, 1, (0..count).map(fact).collect(), Vec::new()),
    ]
}

#[tokio::test]
async fn a_change_of_many_documents_goes_out_in_several_commits() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "many").await;
    memory.make(many(70)).await;
    assert_eq!((memory.all_facts().await.len(), emulator.calls("Commit")), (70, 2));
    memory.make([forget("web:zoe")]).await;
    assert!(memory.all_facts().await.is_empty());
    assert_eq!(emulator.calls("Commit"), 4);
    let dump = emulator.dump("many");
    assert!(!dump.contains("locker") && !dump.contains("zoe"), "{dump}");
}

#[tokio::test]
async fn what_stopped_half_way_is_completed_by_making_it_again() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "half-way").await;
    let (lobby, policies) = (public("web:lobby"), settings(&[]));
    let stop_half_way = async |change: MemoryChange| {
        // The first commit succeeds, the second does not.
        fail(&emulator, "Commit", Code::PermissionDenied, 1, CallFails::BeforeIt, 1);
        memory.apply(vec![change], &policies).await.unwrap_err();
    };
    stop_half_way(many(70).remove(1)).await;
    let (_, marks) = memory.channel(&lobby.room).await.unwrap();
    assert_eq!(marks.reflected, 0, "what is not whole is read again");
    memory.make([forget("web:zoe")]).await;
    assert!(memory.all_facts().await.is_empty());
    memory.make(many(70)).await;
    let hidden = MemoryChange::Narrowed { origin: private("web:lobby") };
    let public_facts = async || {
        let facts = memory.all_facts().await;
        assert_eq!(facts.len(), 70);
        facts.into_iter().filter(|fact| fact.origin.visibility == Visibility::Public).count()
    };
    stop_half_way(hidden.clone()).await;
    assert!((1..70).contains(&public_facts().await));
    memory.make([hidden]).await;
    assert_eq!(public_facts().await, 0);
    stop_half_way(forget("web:zoe")).await;
    assert!((1..70).contains(&memory.all_facts().await.len()), "some are gone already");
    memory.make([forget("web:zoe")]).await;
    let dump = emulator.dump("half-way");
    assert!(!dump.contains("locker") && !dump.contains("zoe"), "{dump}");
}

#[tokio::test]
async fn a_fact_that_is_too_large_is_refused() {
    let server = shared().await;
    let memory = open(&server, "too-large").await;
    let lobby = public("web:lobby");
    let large = kept(draft(&lobby, &"a long story ".repeat(80_000)));
    let error = memory.apply(vec![kept(draft(&lobby, "a short one")), large], &settings(&[])).await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("document of facts") && error.contains("1000000 are allowed"), "{error}");
    assert!(memory.all_facts().await.is_empty(), "whole or not at all");
    let long: String = (0..30_000).map(|number| format!("word{number} ")).collect();
    memory.make([kept(draft(&lobby, &long))]).await;
    assert_eq!(memory.all_facts().await.len(), 1, "what has many words is found by some of them");
}
