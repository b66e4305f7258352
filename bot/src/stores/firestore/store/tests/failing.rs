//! A server that fails, is away, or does not say whether it did as it was told.

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
