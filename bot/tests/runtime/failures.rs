//! The store refuses, the journal is torn: told, and it goes on.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::runtime::Clock;
use rusqlite::Connection;

use crate::made_up::{Board, Life, START, Scratch, Scripted, line, policies, said};

/// Nothing leaves while nothing can be written down; when it can, everything goes on.
#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_makes_everybody_wait() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let mind = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = Life::start(scratch.database(), policies, mind, board.clone(), clock).await;
    let path = scratch.0.join("aizuchi.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("ALTER TABLE journal RENAME TO hidden").unwrap();
    let ears = life.runtime.ears.clone();
    let hearing = tokio::spawn(async move { ears.hear(said("m1", START, "mia", "aizuchi, hello")).await });
    let mut ready = life.ready.clone();
    ready.wait_for(|ready| !ready).await.unwrap();
    assert!(board.posts.lock().unwrap().is_empty() && !hearing.is_finished());
    other.execute_batch("ALTER TABLE hidden RENAME TO journal").unwrap();
    ready.wait_for(|ready| *ready).await.unwrap();
    hearing.await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_torn_last_record_is_dropped() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let mind = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = Life::start(scratch.database(), policies.clone(), mind.clone(), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "good morning")).await;
    life.runtime.stop().await;
    let other = Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    let tear =
        "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, ?1, 'log:room', '{\"Said\":{\"id\":\"m2', 7)";
    other.execute(tear, [START.0 as i64]).unwrap();
    let life = Life::start(scratch.database(), policies, mind, board.clone(), clock).await;
    life.hear(said("m3", life.clock.now(), "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    life.runtime.stop().await;
    let torn: i64 = other.query_row("SELECT count(*) FROM journal WHERE sum = 7", [], |row| row.get(0)).unwrap();
    assert_eq!(torn, 0);
}
