//! A server that fails, is away, or does not say whether it carried out a request.

use aizuchi_core::types::PersonId;
use aizuchi_test_servers::program::eventually;

use super::journals::{bot, make};
use super::*;
use crate::memory::tests::{answered, draft, heard, kept, public};
use crate::stores::StoreError;

/// Gives up after so many seconds.
async fn impatient(server: &FirestoreServer, project: &str, seconds: u64) -> FirestoreMemory {
    let within = std::time::Duration::from_secs(seconds);
    let patience = Patience { call: within, reads: within, writes: within };
    let scope = MessageScope::of(JournalId("a0".into()));
    FirestoreMemory::open(&location(server, project), StoredLayers::ALL, scope, patience).await.unwrap()
}

#[tokio::test]
async fn what_fails_for_a_moment_is_tried_again() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "moment").await;
    let lobby = public("web:lobby");
    for code in [Code::Unavailable, Code::Aborted, Code::DeadlineExceeded] {
        for call in ["Commit", "BatchGetDocuments"] {
            fail(&emulator, call, code, 2, CallFails::BeforeIt, 0);
            memory.make([answered(&lobby, "ann", "bob", &[])]).await;
        }
    }
    assert_eq!(memory.ties(None, None).await.unwrap()[0].answers, 6);
    fail(&emulator, "RunQuery", Code::Unavailable, 2, CallFails::BeforeIt, 0);
    assert_eq!(memory.ties(None, None).await.unwrap().len(), 1, "reading too");
}

#[tokio::test]
async fn a_commit_that_happened_unconfirmed_is_not_made_twice() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "unconfirmed").await;
    let lobby = public("web:lobby");
    for code in [Code::Unavailable, Code::DeadlineExceeded, Code::Unknown] {
        fail(&emulator, "Commit", code, 1, CallFails::AfterIt, 0);
        memory.make([answered(&lobby, "ann", "bob", &[])]).await;
    }
    assert_eq!(memory.ties(None, None).await.unwrap()[0].answers, 3);
}

/// The caller makes the change again later: nothing may be counted twice for that.
#[tokio::test]
async fn a_commit_that_was_given_up_does_not_happen_later() {
    let emulator = FirestoreServer::start().await;
    let limit = std::time::Duration::from_secs(1);
    let patience = Patience { call: limit, reads: limit, writes: limit };
    let scope = MessageScope::of(JournalId("a0".into()));
    let place = location(&emulator, "given-up");
    let memory = FirestoreMemory::open(&place, StoredLayers::ALL, scope, patience).await.unwrap();
    let (lobby, policies) = (public("web:lobby"), settings(&[]));
    memory.make([answered(&lobby, "ann", "bob", &[])]).await;
    emulator.hold_commit(0);
    let again = vec![answered(&lobby, "ann", "bob", &[])];
    let error = memory.apply(again.clone(), &policies).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    emulator.release_commits();
    memory.make(again).await;
    assert_eq!(memory.ties(None, None).await.unwrap()[0].answers, 2);
}

#[tokio::test]
async fn permission_is_asked_for_once() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "permission").await;
    fail(&emulator, "Commit", Code::PermissionDenied, 100, CallFails::BeforeIt, 0);
    let change = vec![heard(&public("web:lobby"), 1, "ann", "Ann", "x")];
    let error = memory.apply(change, &settings(&[])).await.unwrap_err().to_string();
    assert!(error.contains("PermissionDenied"), "{error}");
    assert_eq!(emulator.calls("Commit"), 1);
    assert!(memory.people(None).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_server_that_stays_away_is_an_error_and_one_that_comes_back_is_used_again() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "away").await;
    let (lobby, policies) = (public("web:lobby"), settings(&[]));
    memory.make([kept(draft(&lobby, "before"))]).await;
    let impatient = impatient(&emulator, "away", 5).await;
    emulator.kill();
    let error = impatient.apply(vec![kept(draft(&lobby, "meanwhile"))], &policies).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable(told) if told.starts_with("Firestore: ")), "{error}");
    // The one that comes back has forgotten everything: it keeps nothing on disk.
    emulator.start_again().await;
    memory.make([kept(draft(&lobby, "after"))]).await;
    assert_eq!(memory.all_facts().await.len(), 1);
}

/// The error names what did not answer.
#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let emulator = FirestoreServer::start().await;
    let patient = open(&emulator, "hangs").await;
    let (lobby, policies) = (public("web:lobby"), settings(&[]));
    patient.make([kept(draft(&lobby, "before"))]).await;
    let memory = impatient(&emulator, "hangs", 1).await;
    eventually("it is connected", async || memory.people(None).await.ok()).await;
    emulator.pause();
    let told = StoreError::Unavailable("Firestore: no answer within 1 seconds (DeadlineExceeded)".into());
    assert_eq!(memory.people(None).await, Err(told.clone()));
    assert_eq!(memory.apply(vec![kept(draft(&lobby, "meanwhile"))], &policies).await, Err(told.clone()));
    assert_eq!(memory.try_out().await, Err(told));
    emulator.resume();
    assert_eq!(patient.all_facts().await.len(), 1);
}

#[tokio::test]
async fn a_server_that_is_back_in_time_is_waited_for() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "back").await;
    memory.make([heard(&public("web:lobby"), 1, "ann", "Ann", "x")]).await;
    emulator.kill();
    let write = memory.make([heard(&public("web:lobby"), 2, "ann", "Ann", "x")]);
    tokio::join!(write, emulator.start_again());
    assert_eq!(memory.people(None).await.unwrap().len(), 1);
}

/// What is known here does not wait for what is known there; and nobody is remembered again who is not asked everywhere.
#[tokio::test]
async fn anyone_who_opts_out_is_out_here_while_firestore_refuses() {
    let emulator = FirestoreServer::start().await;
    let (_folder, memory) = bot(&emulator, "refuses").await;
    make(&*memory, vec![heard(&public("web:lobby"), 1, "web:zoe", "Zoe", "x")]).await;
    let (zoe, policies) = (PersonId::new("web:zoe"), settings(&[]));
    let is_out = async || memory.people(Some(&zoe)).await.unwrap().iter().any(|known| known.opted_out);
    assert!(!is_out().await);
    fail(&emulator, "BatchGetDocuments", Code::PermissionDenied, 100, CallFails::BeforeIt, 0);
    let opt = |out| vec![MemoryChange::OptedOut { person: zoe.clone(), out }];
    memory.apply(opt(true), &policies).await.unwrap_err();
    assert!(is_out().await);
    memory.apply(opt(false), &policies).await.unwrap_err();
    assert!(is_out().await);
}

/// A start that is refused leaves nothing behind, however often it is tried.
#[tokio::test]
async fn a_trial_that_cannot_be_read_leaves_no_document() {
    let emulator = FirestoreServer::start().await;
    let memory = open(&emulator, "trial").await;
    fail(&emulator, "BatchGetDocuments", Code::PermissionDenied, 1, CallFails::BeforeIt, 0);
    memory.try_out().await.unwrap_err();
    assert!(!emulator.dump("trial").contains("trial-"), "{}", emulator.dump("trial"));
}
