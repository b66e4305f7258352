//! What fails although it never should, and what is damaged: it is noticed, and the next start goes on.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::ports::{BoxFuture, ModelClient};
use aizuchi::runtime::Clock;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::{Answer, Command};
use aizuchi_core::types::{RoomId, Span};
use aizuchi_core::{Input, Policies};

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said};

/// Counts nothing, and panics at a counter of this name.
struct Faulty(&'static str);

impl metrics::Recorder for Faulty {
    fn describe_counter(&self, _: metrics::KeyName, _: Option<metrics::Unit>, _: metrics::SharedString) {}
    fn describe_gauge(&self, _: metrics::KeyName, _: Option<metrics::Unit>, _: metrics::SharedString) {}
    fn describe_histogram(&self, _: metrics::KeyName, _: Option<metrics::Unit>, _: metrics::SharedString) {}
    fn register_counter(&self, key: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Counter {
        assert_ne!(key.name(), self.0, "a panic on purpose");
        metrics::Counter::noop()
    }
    fn register_gauge(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Gauge {
        metrics::Gauge::noop()
    }
    fn register_histogram(&self, _: &metrics::Key, _: &metrics::Metadata<'_>) -> metrics::Histogram {
        metrics::Histogram::noop()
    }
}

#[test]
fn a_shard_that_panics_is_noticed_and_the_next_start_goes_on() {
    let (scratch, board) = (Scratch::new(), Arc::new(Board::default()));
    let settings = policies(&["runtime.shards=2"]);
    let world = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let models = || Scripted::new(false, vec![line("write", "Hello!", 5_000)], &settings);
    let clock = || Clock::starting_at(START);
    metrics::with_local_recorder(&Faulty("aizuchi_decisions_total"), || {
        world().block_on(async {
            let mut life =
                EngineRun::start(scratch.database(), settings.clone(), models(), board.clone(), clock()).await;
            life.hear(said("m1", START, "mia", "aizuchi, hello")).await;
            life.hear(said("m2", START, "jonas", "and then it rained")).await;
            let failure = tokio::time::timeout(Duration::from_secs(60), life.runtime.failed()).await;
            let failure = failure.expect("somebody notices").to_string();
            assert_eq!(failure, "the engine failed: panicked; the log says where");
            assert!(!*life.ready.borrow(), "it says so");
            let heard = life.runtime.engine.submit(said("m3", START, "mia", "and now?")).await;
            assert!(heard.is_err(), "who speaks now learns that it was not heard");
        });
    });
    world().block_on(async {
        let life = EngineRun::start(scratch.database(), settings.clone(), models(), board.clone(), clock()).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        life.runtime.stop().await;
    });
    assert_eq!(board.posts.lock().unwrap().len(), 1, "what was recorded is answered");
}

struct Panics;

impl ModelClient for Panics {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { panic!("a panic on purpose") })
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(async { panic!("a panic on purpose") })
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_has_failed_and_the_asker_gets_a_friendly_line() {
    let (scratch, board) = (Scratch::new(), Arc::new(Board::default()));
    let (clock, settings) = (Clock::starting_at(START), policies(&[]));
    let life = EngineRun::start(scratch.database(), settings, Arc::new(Panics), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let posts = board.posts.lock().unwrap().clone();
    assert!(posts.len() == 1 && posts[0].1.starts_with("Sorry"), "{posts:?}");
    let view = life.runtime.engine.view(&RoomId::new("log:room")).await.unwrap().unwrap();
    assert!(view.places.iter().all(|place| place.pending.is_empty()), "{view:?}");
}

async fn start(scratch: &Scratch, board: &Arc<Board>, clock: Clock) -> EngineRun {
    let settings = policies(&[]);
    let models = Scripted::new(false, vec![line("write", "Hello!", 0)], &settings);
    EngineRun::start(scratch.database(), settings, models, board.clone(), clock).await
}

#[tokio::test(start_paused = true)]
async fn a_damaged_snapshot_is_worked_out_again_from_the_journal() {
    let (scratch, board, clock) = (Scratch::new(), Arc::new(Board::default()), Clock::starting_at(START));
    let room = RoomId::new("log:room");
    let life = start(&scratch, &board, clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    life.hear(Input::Told(room.clone(), Command::Mute(None))).await;
    life.runtime.stop().await;
    let store = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    for damage in ["substr(body, 1, 99)", "replace(body, 'mia', 'ann')", "''", "x'ff00ff'"] {
        store.execute(&format!("UPDATE snapshot SET body = {damage}"), []).unwrap();
        let life = start(&scratch, &board, clock).await;
        let view = life.runtime.engine.view(&room).await.unwrap().expect("the room is known");
        assert!(view.mute.is_some(), "{damage}");
        life.runtime.stop().await;
    }
    assert_eq!(board.posts.lock().unwrap().len(), 1, "nothing is said again");
}

#[tokio::test(start_paused = true)]
async fn a_record_on_which_it_fails_does_not_keep_it_from_starting() {
    let (scratch, board, clock) = (Scratch::new(), Arc::new(Board::default()), Clock::starting_at(START));
    start(&scratch, &board, clock).await.runtime.stop().await;
    // No settings are like this; an engine that should be dealt out to none panics.
    let impossible = Input::PolicyChanged(Box::new(policies(&[]).stated().with_shards(0)));
    let store = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    let (body, sum) = aizuchi::journal::record::encode(&impossible);
    let insert = "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, ?1, NULL, ?2, ?3)";
    store.execute(insert, rusqlite::params![START.0 as i64, body, sum]).unwrap();
    let life = start(&scratch, &board, clock).await;
    life.hear(said("m1", clock.now(), "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    life.runtime.stop().await;
}

/// A room in which nothing was said for so long that every record is old enough to go.
#[tokio::test(start_paused = true)]
async fn numbers_of_records_that_are_gone_are_not_given_again() {
    let (scratch, board, clock) = (Scratch::new(), Arc::new(Board::default()), Clock::starting_at(START));
    let life = start(&scratch, &board, clock).await;
    for number in 0..10 {
        life.hear(said(&format!("m{number}"), clock.now(), "mia", "and then it rained")).await;
    }
    life.runtime.stop().await;
    let journal = aizuchi::journal::Journal::new(scratch.database());
    assert!(journal.prune(START + Span::minutes(60), &policies(&[])).await.unwrap() > 0);
    let life = start(&scratch, &board, clock).await;
    life.hear(Input::Told(RoomId::new("log:room"), Command::Mute(None))).await;
    drop(life);
    let life = start(&scratch, &board, clock).await;
    let view = life.runtime.engine.view(&RoomId::new("log:room")).await.unwrap().expect("the room is known");
    assert!(view.mute.is_some(), "what was recorded after all that is not taken for old");
    life.runtime.stop().await;
}
