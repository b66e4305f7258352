//! The store refuses, the journal is torn: told, and it goes on.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::runtime::{Clock, ShuttingDown};
use rusqlite::Connection;

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said, saving_after};

/// Nothing leaves while nothing can be written down; when it can, everything goes on.
#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_makes_everybody_wait() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    let path = scratch.0.join("aizuchi.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("ALTER TABLE journal RENAME TO hidden").unwrap();
    let engine = life.runtime.engine.clone();
    let hearing = tokio::spawn(async move { engine.submit(said("m1", START, "mia", "aizuchi, hello")).await });
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

/// A store that refuses for good does not keep the program from stopping; what was not written is reported again.
#[tokio::test(start_paused = true)]
async fn a_store_that_refuses_does_not_keep_it_from_stopping() {
    let (scratch, policies) = (Scratch::new(), policies(&["runtime.shutdown_seconds=5"]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    let other = Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    other.execute_batch("ALTER TABLE journal RENAME TO hidden").unwrap();
    let engine = life.runtime.engine.clone();
    let hearing = tokio::spawn(async move { engine.submit(said("m1", START, "mia", "aizuchi, hello")).await });
    life.ready.clone().wait_for(|ready| !ready).await.unwrap();
    life.runtime.stop().await;
    assert_eq!(hearing.await.unwrap(), Err(ShuttingDown), "nobody is notified that it is durable");
    other.execute_batch("ALTER TABLE hidden RENAME TO journal").unwrap();
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    life.runtime.stop().await;
}

/// Beyond a snapshot nobody works out a decision again: it is kept first, however long that takes.
#[tokio::test(start_paused = true)]
async fn a_decision_that_cannot_be_kept_is_kept_later() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let models = Scripted::new(false, vec![], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life =
        EngineRun::with_store(saving_after(1), scratch.database(), policies.clone(), models, board.clone(), clock)
            .await;
    let other = Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    other.execute_batch("ALTER TABLE trace RENAME TO hidden").unwrap();
    life.hear(said("m1", START, "mia", "lol")).await;
    life.hear(said("m2", START, "mia", "lol")).await;
    other.execute_batch("ALTER TABLE hidden RENAME TO trace").unwrap();
    life.runtime.stop().await;
    let kept: i64 = other.query_row("SELECT count(*) FROM trace", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, 2);
}

#[tokio::test(start_paused = true)]
async fn a_torn_last_record_is_dropped() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "good morning")).await;
    life.runtime.stop().await;
    let other = Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    let tear =
        "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, ?1, 'log:room', '{\"Said\":{\"id\":\"m2', 7)";
    other.execute(tear, [START.0 as i64]).unwrap();
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    life.hear(said("m3", life.clock.now(), "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    life.runtime.stop().await;
    let torn: i64 = other.query_row("SELECT count(*) FROM journal WHERE sum = 7", [], |row| row.get(0)).unwrap();
    assert_eq!(torn, 0);
}
