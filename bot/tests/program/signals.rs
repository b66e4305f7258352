//! Told to stop: what is being said is said to its end, the rest waits for the next start.

use std::time::Duration;

use aizuchi_test_servers::visitor::Visitor;
use rusqlite::Connection;
use tokio::time::Instant;

use crate::ledger::Ledger;
use crate::program::{eventually, new_home};

#[tokio::test]
async fn a_stop_lets_an_answer_finish_and_keeps_the_state() {
    let home = new_home(&["reply.part_chars=40", "store.snapshot_records=100000", "runtime.shutdown_seconds=120"]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = mia.say("1", "@aizuchi what do you make of all this?").await;
    while mia.next("said").await["message"]["voice"] != "Me" {}
    let start = Instant::now();
    program.terminate();
    let status = program.ended().await;
    assert!(status.success() && start.elapsed() < Duration::from_secs(60), "{:?}\n{}", start.elapsed(), program.said());
    assert!(program.said().contains("stopping: unfinished posts may complete"), "{}", program.said());
    let store = home.store();
    Ledger::read(&store).check_answers();
    let count = |query: &str| store.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM trace WHERE body LIKE '%\"replies\"%'"), 1, "{id} is decided");
    assert_eq!(count("SELECT max(seq) FROM journal"), count("SELECT seq FROM snapshot"), "the state is saved");
    let mut program = home.start().await;
    let said = eventually("it has read the journal", async || {
        program.said().lines().find(|line| line.contains("recovered from the journal")).map(str::to_owned)
    })
    .await;
    assert!(said.contains("\"records\":0") && said.contains("\"from\":\"Snapshots\""), "{said}");
    program.terminate();
    assert!(program.ended().await.success());
}

/// The store is held by somebody else, so that nothing can be written: the first signal is patient, the second is not.
#[tokio::test]
async fn a_second_signal_stops_at_once() {
    let home = new_home(&["runtime.shutdown_seconds=600"]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "good morning").await;
    let other = Connection::open(home.data().join("aizuchi.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    program.terminate();
    eventually("it heard", async || program.said().contains("press Ctrl-C again to stop at once").then_some(())).await;
    assert!(program.has_ended().is_none());
    let start = Instant::now();
    program.terminate();
    let status = program.ended().await;
    assert!(status.success() && start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

/// A store that refuses for good must not keep it from stopping.
#[tokio::test]
async fn a_stop_without_a_store_takes_no_longer_than_it_may() {
    let home = new_home(&["runtime.shutdown_seconds=1"]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "good morning").await;
    let other = Connection::open(home.data().join("aizuchi.db")).unwrap();
    other.execute_batch("ALTER TABLE journal RENAME TO hidden").unwrap();
    mia.send(serde_json::json!({"do": "say", "key": "2", "text": "@aizuchi good morning"})).await;
    assert_eq!(mia.next("refused").await["again"], true, "what is not recorded is not taken");
    eventually("it cannot go on", async || program.said().contains("cannot write to the journal").then_some(())).await;
    assert!(program.get("/ready").await.contains("503"));
    let start = Instant::now();
    program.terminate();
    let status = program.ended().await;
    assert!(status.success() && start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    other.execute_batch("ALTER TABLE hidden RENAME TO journal").unwrap();
    let program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("2", "@aizuchi good morning").await;
    let store = home.store();
    let answer = "SELECT 1 FROM web_message WHERE body LIKE '%\"voice\":\"Me\"%'";
    eventually("it answers", async || store.query_row(answer, [], |_| Ok(())).ok()).await;
}
