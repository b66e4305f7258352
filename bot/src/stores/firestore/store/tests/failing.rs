//! A server that fails, is away, or does not say whether it did as it was told.

use aizuchi_core::types::PersonId;

use super::journals::{bot, make};
use super::*;
use crate::memory::tests::{answered, draft, heard, kept, public};
use crate::stores::StoreError;

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
    emulator.kill();
    let error = memory.apply(vec![kept(draft(&lobby, "meanwhile"))], &policies).await.unwrap_err();
    assert!(matches!(&error, StoreError::Unavailable(told) if told.starts_with("Firestore: ")), "{error}");
    // The one that comes back has forgotten everything: it keeps nothing on disk.
    emulator.start_again().await;
    memory.make([kept(draft(&lobby, "after"))]).await;
    assert_eq!(memory.all_facts().await.len(), 1);
}

/// Whoever waits for it is told what it was that did not answer.
#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let emulator = FirestoreServer::start().await;
    let second = std::time::Duration::from_secs(1);
    let patience = Patience { call: second, reads: second, writes: second };
    let scope = MessageScope::of(JournalId("a0".into()));
    let place = location(&emulator, "hangs");
    let memory = FirestoreMemory::open(&place, StoredLayers::ALL, scope, patience).await.unwrap();
    let (lobby, policies) = (public("web:lobby"), settings(&[]));
    memory.make([kept(draft(&lobby, "before"))]).await;
    emulator.pause();
    let told = StoreError::Unavailable("Firestore: no answer within 1 seconds (DeadlineExceeded)".into());
    assert_eq!(memory.people(None).await, Err(told.clone()));
    assert_eq!(memory.apply(vec![kept(draft(&lobby, "meanwhile"))], &policies).await, Err(told.clone()));
    assert_eq!(memory.try_out().await, Err(told));
    emulator.resume();
    assert_eq!(memory.all_facts().await.len(), 1);
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
async fn whoever_opts_out_is_out_here_while_firestore_refuses() {
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
