//! Stops and starts: nothing is lost, nothing is said twice, what waits keeps its time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use aizuchi::runtime::{Clock, EngineEvent};
use aizuchi_core::types::Span;
use tokio::sync::watch;

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said};

#[tokio::test(start_paused = true)]
async fn a_wait_keeps_its_due_time_over_a_restart() {
    let (scratch, policies) = (Scratch::new(), policies(&["preset=myao2", "response.jitter_ratio=0"]));
    let yes = r#"{"should_respond": true, "reason": "asked", "delay_seconds": 0}"#;
    let models = Scripted::new(false, vec![line("judge", yes, 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "does anybody know?")).await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    life.runtime.stop().await;
    tokio::time::sleep(Duration::from_secs(100)).await;
    let mut life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    tokio::time::sleep(Duration::from_secs(99)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 0, "it waits for five minutes");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    let decided = std::iter::from_fn(|| life.events.try_recv().ok()).find_map(|event| match event {
        EngineEvent::Decided(trace) => Some(trace),
        EngineEvent::Changed(..) => None,
    });
    assert_eq!(decided.unwrap().asked[0].at, START + Span::seconds(300));
}

/// The post is out, the acknowledgement is not: the same post is asked for again and found.
#[tokio::test(start_paused = true)]
async fn a_post_that_was_not_acknowledged_is_not_posted_twice() {
    let (scratch, policies) = (Scratch::new(), policies(&["runtime.shutdown_seconds=1"]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let (_let_go, held) = watch::channel(false);
    *board.held.lock().unwrap() = Some(held);
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    life.runtime.stop().await;
    *board.held.lock().unwrap() = None;
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let view = life.runtime.engine.view(&aizuchi_core::types::RoomId::new("log:room")).await.unwrap().unwrap();
    assert!(view.places.iter().all(|place| place.pending.is_empty()), "{view:?}");
    let posts = board.posts.lock().unwrap().clone();
    assert_eq!(posts, [("log:room#2/0".to_owned(), "Hello!".to_owned())]);
}

/// A platform that cannot know whether it was heard tells again, when much has been said since: one answer, one decision.
#[tokio::test(start_paused = true)]
async fn a_message_told_again_is_not_answered_twice() {
    let (scratch, policies) = (Scratch::new(), policies(&["listen.buffer_messages=2"]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 5_000)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    let told = |number: u64| {
        let text = if number == 0 { "aizuchi, hello" } else { "and then it rained" };
        said(&format!("m{number}"), START + Span(number), "mia", text)
    };
    for number in 0..5 {
        life.hear(told(number)).await;
    }
    life.runtime.stop().await;
    let mut life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    life.hear(told(0)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1);
    let decided = std::iter::from_fn(|| life.events.try_recv().ok()).filter_map(|event| match event {
        EngineEvent::Decided(trace) => Some(trace),
        EngineEvent::Changed(..) => None,
    });
    let about: Vec<_> = decided.filter(|trace| trace.message.as_str() == "m0").map(|trace| trace.outcome).collect();
    assert_eq!(about, [aizuchi_core::trace::Outcome::Replies]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_posts_finish_and_cancels_calls() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 30_000)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, hello")).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(models.under_way.load(Ordering::Relaxed), 1);
    assert!(board.typed.load(Ordering::Relaxed) > 0, "it shows that it is writing");
    life.runtime.stop().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(models.under_way.load(Ordering::Relaxed), 0, "a call that is given up is cancelled for real");
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    tokio::time::sleep(Duration::from_secs(31)).await;
    assert_eq!(board.posts.lock().unwrap().len(), 1, "and asked again at the next start");
    life.runtime.stop().await;
}

/// Between the parts of an answer the platform asks for patience; each part goes out once, in order.
#[tokio::test(start_paused = true)]
async fn parts_go_out_once_and_in_order() {
    let (scratch, policies) = (Scratch::new(), policies(&["reply.part_chars=40"]));
    let long = "One sentence of some length here. Another sentence that follows it. And a third one to end with.";
    let models = Scripted::new(false, vec![line("write", long, 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    board.refusals.lock().unwrap().insert("log:room#2/1".into(), 2);
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, tell me")).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let posts = board.posts.lock().unwrap().clone();
    assert_eq!(posts.len(), 3, "{posts:?}");
    assert_eq!(posts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join(" "), long);
    life.runtime.stop().await;
}

/// A long answer comes as short posts: it shows that it writes before each further one, and a stop in between loses none of them.
#[tokio::test(start_paused = true)]
async fn short_posts_follow_each_other_at_the_pace_of_somebody_who_writes() {
    let (scratch, policies) = (Scratch::new(), policies(&["reply.chunks=3"]));
    let paragraphs =
        ["first", "second", "third"].map(|name| format!("The {name} paragraph. {}", "It goes on. ".repeat(20)));
    let models = Scripted::new(false, vec![line("write", &paragraphs.join("\n\n"), 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies.clone(), models.clone(), board.clone(), clock).await;
    life.hear(said("m1", START, "mia", "aizuchi, tell me")).await;
    let posts = || board.posts.lock().unwrap().len();
    while posts() == 0 {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(posts(), 1, "it is still writing the second");
    let typed = board.typed.load(Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(4)).await;
    assert_eq!((posts(), board.typed.load(Ordering::Relaxed)), (2, typed + 1));
    life.runtime.stop().await;
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let posted: Vec<String> = board.posts.lock().unwrap().iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(posted, paragraphs.map(|paragraph| paragraph.trim().to_owned()));
    life.runtime.stop().await;
}

/// New settings apply as soon as the engines get them, and are recorded.
#[tokio::test(start_paused = true)]
async fn settings_change_while_it_lives() {
    let named = |name: &str| policies(&[&format!("bot.name={name}"), "runtime.shards=2"]);
    let (scratch, board, clock) = (Scratch::new(), Arc::new(Board::default()), Clock::starting_at(START));
    let models = Scripted::new(false, vec![line("write", "Yes?", 0)], &named("aizuchi"));
    let life = EngineRun::start(scratch.database(), named("aizuchi"), models.clone(), board.clone(), clock).await;
    let posts = || board.posts.lock().unwrap().len();
    life.hear(said("m1", START, "mia", "kai, hello")).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(posts(), 0, "nobody here is called kai");
    life.runtime.engine.change_policies(&named("kai")).await.unwrap();
    for (id, text, by_now) in [("m2", "kai, hello", 1), ("m3", "aizuchi, hello", 1), ("m4", "kai?", 2)] {
        life.hear(said(id, clock.now(), "mia", text)).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert_eq!(posts(), by_now, "{text}");
    }
    life.runtime.stop().await;
    let database = scratch.database();
    let records = database.read(|it| {
        let changes = "SELECT count(*) FROM journal WHERE body LIKE '%PolicyChanged%'";
        it.query_row(changes, [], |row| row.get::<_, i64>(0))
    });
    assert_eq!(records.await.unwrap(), 2 * 2, "both engines wrote down both settings");
}

/// Other settings hold from the next start on; what happened under the old ones stays.
#[tokio::test(start_paused = true)]
async fn a_start_with_other_settings_goes_on_with_them() {
    let scratch = Scratch::new();
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    for (name, id, text) in [("aizuchi", "m1", "aizuchi, hello"), ("kai", "m2", "kai, hello")] {
        let policies = policies(&[&format!("bot.name={name}"), "runtime.shards=1"]);
        let models = Scripted::new(false, vec![line("write", &format!("I am {name}."), 0)], &policies);
        let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
        life.hear(said(id, life.clock.now(), "mia", text)).await;
        tokio::time::sleep(Duration::from_secs(60)).await;
        life.runtime.stop().await;
    }
    let said: Vec<String> = board.posts.lock().unwrap().iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(said, ["I am aizuchi.", "I am kai."]);
}
