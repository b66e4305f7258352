//! People who address it go first: past the messages of other rooms, and past nobody's of their own.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::runtime::{Clock, ShuttingDown};
use aizuchi_core::Input;
use aizuchi_core::types::{Place, Span};
use rusqlite::Connection;

use crate::made_up::{Board, EngineRun, START, Scratch, Scripted, line, policies, said};

/// Fits into the queue of one engine.
const OTHERS: u64 = 400;
const ROOMS: u64 = 20;

fn in_room(room: &str, id: &str, at: u64, text: &str) -> Input {
    let Input::Said(mut message) = said(id, START + Span(at), "mia", text) else { unreachable!("it was said") };
    message.place = Place::room(room);
    Input::Said(message)
}

/// Ids and rooms in the order in which they were heard.
fn journal(connection: &Connection) -> Vec<(String, String)> {
    let mut records = connection.prepare("SELECT body FROM journal ORDER BY seq").unwrap();
    let bodies = records.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
    let heard = bodies.filter_map(|body| match serde_json::from_str(&body).unwrap() {
        Input::Said(message) => Some((message.id.to_string(), message.place.room.to_string())),
        _ => None,
    });
    heard.collect()
}

#[tokio::test(start_paused = true)]
async fn a_mention_overtakes_other_rooms_and_nobody_of_its_own() {
    let (scratch, policies) = (Scratch::new(), policies(&[]));
    let models = Scripted::new(false, vec![line("write", "Hello!", 0)], &policies);
    let (board, clock) = (Arc::new(Board::default()), Clock::starting_at(START));
    let life = EngineRun::start(scratch.database(), policies, models, board.clone(), clock).await;
    life.hear(in_room("log:room0", "first", 0, "good morning")).await;
    let store = Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    // The disk takes its time with one message, and everything queues up behind it.
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    let engine = &life.runtime.engine;
    let mut promises = vec![engine.enqueue(in_room("log:room0", "stuck", 0, "how are you all?")).await.unwrap()];
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    for number in 0..OTHERS {
        let (room, id) = (format!("log:room{}", number % ROOMS), format!("other {number}"));
        promises.push(engine.enqueue(in_room(&room, &id, number, "and then the rain came")).await.unwrap());
    }
    for (id, text) in [("before", "look at this"), ("mention", "aizuchi, what is it?"), ("after", "a bird")] {
        promises.push(engine.enqueue(in_room("log:called", id, OTHERS, text)).await.unwrap());
    }
    store.execute_batch("COMMIT").unwrap();
    for promise in promises {
        assert_eq!(promise.durable().await, Ok::<(), ShuttingDown>(()));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    life.runtime.stop().await;

    let heard = journal(&store);
    let ids: Vec<&str> = heard.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids[..4], ["first", "stuck", "before", "mention"]);
    assert_eq!(heard.len() as u64, OTHERS + 5, "nothing is lost and nothing doubled");
    let of_room = |room: &str| {
        let number = |id: &str| id.strip_prefix("other ").and_then(|number| number.parse::<u64>().ok());
        heard.iter().filter(|(_, of)| of == room).filter_map(|(id, _)| number(id)).collect::<Vec<_>>()
    };
    for room in 0..ROOMS {
        let expected: Vec<u64> = (0..OTHERS).filter(|number| number % ROOMS == room).collect();
        assert_eq!(of_room(&format!("log:room{room}")), expected, "each room in its order");
    }
    assert_eq!(board.posts.lock().unwrap().len(), 1, "the mention is answered");
}
