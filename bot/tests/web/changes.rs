//! Sending again, coming back, and changing what was said.

use aizuchi::ports::{Platform as _, PostRequest};
use aizuchi_core::Input;
use aizuchi_core::types::Place;
use aizuchi_test_servers::visitor::{Visitor, texts};
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::house::WebFixture;

#[tokio::test]
async fn sent_again_it_is_taken_once() {
    let house = WebFixture::open("again").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let first = mia.say("1", "hello").await;
    assert_eq!(mia.say("1", "hello").await, first);
    // Somebody else's key of the same name is another.
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    assert_ne!(jonas.say("1", "hello").await, first);
    let (mut back, told) = Visitor::come_back(house.address, "lobby", "mia", Some(&mia.person), 0).await;
    assert_eq!(texts(&told), ["hello", "hello"]);
    assert_eq!(back.say("1", "hello").await, first);
    assert_eq!(house.said().len(), 2);
    house.close().await;
}

#[tokio::test]
async fn coming_back_loses_nothing_and_repeats_nothing() {
    let house = WebFixture::open("back").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    let old = jonas.say("1", "one").await;
    jonas.say("2", "two").await;
    let mut seen = vec![mia.next("said").await, mia.next("said").await];
    let (person, since) = (mia.person.clone(), mia.seq);
    drop(mia);
    jonas.say("3", "three").await;
    jonas.send(json!({"do": "edit", "key": "4", "id": old, "text": "one!"})).await;
    jonas.taken("4").await;
    let (mut mia, told) = Visitor::come_back(house.address, "lobby", "mia", Some(&person), since).await;
    let kinds: Vec<&Value> = told.iter().map(|frame| &frame["tell"]).collect();
    assert_eq!(kinds, ["said", "changed", "caught_up"]);
    seen.extend(told);
    jonas.say("5", "four").await;
    seen.push(mia.next("said").await);
    assert_eq!(texts(&seen), ["one", "two", "three", "one!", "four"]);
    let mut numbers: Vec<u64> =
        seen.iter().filter(|frame| frame["tell"] != "caught_up").filter_map(|frame| frame["seq"].as_u64()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    numbers.dedup();
    assert_eq!(numbers.len(), 5);
    // A page that counts further than the store has counted in another one.
    let (_, told) = Visitor::come_back(house.address, "lobby", "mia", Some(&person), 1_000_000).await;
    assert_eq!(texts(&told), ["one!", "two", "three", "four"]);
    house.close().await;
}

#[tokio::test]
async fn history_is_told_in_pages() {
    let house = WebFixture::open("history").await;
    let place = Place::room("web:lobby");
    let keys: Vec<String> = (0..120).map(|number| number.to_string()).collect();
    for key in &keys {
        house.web.post(PostRequest { key, place: &place, text: key, answering: None, more: false }).await.unwrap();
    }
    let (mut mia, told) = Visitor::come_back(house.address, "lobby", "mia", None, 0).await;
    let mut all: Vec<String> = texts(&told).into_iter().map(str::to_owned).collect();
    assert_eq!((all.len(), &told.last().unwrap()["more_before"]), (50, &json!(true)));
    let mut oldest = told[0]["message"]["order"].clone();
    for more in [true, false] {
        mia.send(json!({"do": "history", "before": oldest})).await;
        let older = mia.until("caught_up").await;
        assert_eq!(older.last().unwrap()["more_before"], more);
        let older: Vec<Value> = older.into_iter().filter(|frame| frame["tell"] == "said").collect();
        oldest = older[0]["message"]["order"].clone();
        all.splice(0..0, texts(&older).into_iter().map(str::to_owned));
    }
    assert_eq!(all, keys);
    house.close().await;
}

#[tokio::test]
async fn people_change_what_they_said_and_nobody_elses() {
    let house = WebFixture::open("changes").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    let id = mia.say("1", "helo").await;
    mia.send(json!({"do": "edit", "key": "2", "id": id, "text": "hello"})).await;
    mia.taken("2").await;
    let changed = jonas.next("changed").await["message"].clone();
    assert_eq!((&changed["text"], &changed["edited"]), (&json!("hello"), &json!(true)));

    assert!(jonas.refused(json!({"do": "edit", "key": "1", "id": id, "text": "x"})).await.contains("yourself"));
    assert!(jonas.refused(json!({"do": "delete", "key": "1", "id": id})).await.contains("yourself"));
    assert!(jonas.refused(json!({"do": "delete", "key": "1", "id": "w99"})).await.contains("no such message"));
    for (on, given) in [(true, json!([["🍅", ["jonas"]]])), (false, json!([]))] {
        jonas.send(json!({"do": "react", "key": "3", "id": id, "emoji": "🍅", "on": on})).await;
        jonas.taken("3").await;
        assert_eq!(jonas.next("changed").await["message"]["reactions"], given);
    }
    assert!(
        jonas.refused(json!({"do": "react", "key": "3", "id": id, "emoji": "a b", "on": true})).await.contains("emoji")
    );

    mia.send(json!({"do": "delete", "key": "4", "id": id})).await;
    mia.taken("4").await;
    let gone = jonas.next("changed").await["message"].clone();
    assert_eq!((&gone["text"], &gone["deleted"]), (&json!(""), &json!(true)));
    assert!(mia.refused(json!({"do": "edit", "key": "5", "id": id, "text": "x"})).await.contains("deleted"));

    let changes: Vec<Option<String>> = house
        .heard
        .lock()
        .unwrap()
        .iter()
        .filter_map(|input| match input {
            Input::Changed(change) => Some(change.text.as_ref().map(ToString::to_string)),
            _ => None,
        })
        .collect();
    assert_eq!(changes, [Some("hello".into()), None]);
    let heard = house.heard.lock().unwrap().clone();
    let given: Vec<(bool, &str, bool)> = heard
        .iter()
        .filter_map(|input| match input {
            Input::Reacted(given) => Some((given.by.as_str().ends_with(&jonas.you), &*given.emoji, given.on)),
            _ => None,
        })
        .collect();
    assert_eq!(given, [(true, "🍅", true), (true, "🍅", false)]);
    house.close().await;
}

#[tokio::test]
async fn a_page_that_is_too_slow_is_let_go_and_catches_up() {
    let house = WebFixture::open("slow").await;
    let mut slow = Visitor::enter(house.address, "lobby", "slow").await;
    let mut quick = Visitor::enter(house.address, "lobby", "quick").await;
    let place = Place::room("web:lobby");
    let text = "長い".repeat(3000);
    let keys: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    let post = |key| house.web.post(PostRequest { key, place: &place, text: &text, answering: None, more: false });
    // As many at a time as somebody who reads cannot fall behind by.
    for some in keys.chunks(100) {
        let posted = join_all(some.iter().map(|key| post(key.as_str()))).await;
        assert!(posted.iter().all(Result::is_ok));
        for _ in some {
            quick.next("said").await;
        }
    }

    let mut orders = Vec::new();
    let end = loop {
        match slow.any().await {
            Ok(frame) => orders.extend(frame["message"]["order"].as_u64()),
            Err(end) => break end,
        }
    };
    assert!(orders.len() < keys.len(), "it was not slow enough to be let go: {end}");
    let (_, told) = Visitor::come_back(house.address, "lobby", "slow", Some(&slow.person), slow.seq).await;
    orders.extend(told.iter().filter_map(|frame| frame["message"]["order"].as_u64()));
    assert_eq!(orders, (1..=2000).collect::<Vec<u64>>());
    house.close().await;
}
