//! Rooms that are closed: gone for everybody, with all that was said there.

use aizuchi::ports::{Platform as _, PostError, PostRequest};
use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::{Place, RoomId};
use aizuchi_test_servers::visitor::{Visitor, connect, texts};
use serde_json::json;

use crate::house::WebFixture;

fn close(room: &str) -> serde_json::Value {
    json!({"do": "close", "key": "close", "room": room})
}

fn was_left(house: &WebFixture, room: &str) -> bool {
    let id = RoomId::new(format!("web:{room}"));
    house.heard.lock().unwrap().iter().any(|input| matches!(input, Input::Told(of, Command::Left) if *of == id))
}

async fn stored(house: &WebFixture, text: &'static str) -> bool {
    let query = "SELECT 1 FROM web_message WHERE instr(body, ?1) > 0";
    house.database.read(move |connection| connection.prepare(query)?.exists([text])).await.unwrap()
}

#[tokio::test]
async fn a_closed_room_is_gone_for_everybody() {
    let house = WebFixture::open("closed").await;
    let mut mia = Visitor::enter(house.address, "garden", "mia").await;
    let mut jonas = Visitor::enter(house.address, "garden", "jonas").await;
    let mut ann = Visitor::enter(house.address, "lobby", "ann").await;
    mia.say("1", "the roses are red").await;
    mia.send(close("garden")).await;
    mia.taken("close").await;
    assert_eq!(jonas.next("closed").await["room"], "garden");
    assert_eq!(ann.next("rooms").await["rooms"], json!(["lobby"]));
    assert!(!stored(&house, "roses").await, "its talk is gone");
    assert!(was_left(&house, "garden"), "the engine is notified");
    // A page that does not care, and an answer on its way, say nothing there any more.
    let refused = jonas.refused(json!({"do": "say", "key": "2", "text": "hello?"})).await;
    assert_eq!(refused, "This room was closed.");
    let place = Place::room("web:garden");
    let posting = PostRequest { place: &place, key: "k", text: "an answer", answering: None, more: false };
    assert!(matches!(house.web.post(posting).await, Err(PostError::GiveUp { .. })));
    // A page that was away is refused, and does not open the room again by coming back.
    let mut away = connect(house.address, &[]).await.unwrap();
    let back = json!({"do": "enter", "room": "garden", "name": "jonas", "person": jonas.person, "since": 1});
    assert_eq!(away.refused(back).await, "This room was closed.");
    // Somebody may open one of the same name: it is another.
    let (_, told) = Visitor::come_back(house.address, "garden", "ann", None, 0).await;
    assert!(texts(&told).is_empty(), "{told:?}");
    house.close().await;
}

#[tokio::test]
async fn where_strangers_come_in_only_who_opened_a_room_closes_it() {
    let house = WebFixture::open_set("whose", &["web.token=secret"]).await;
    let token = [("Authorization", "Bearer secret")];
    let mut mia = connect(house.address, &token).await.unwrap();
    mia.send(json!({"do": "enter", "room": "garden", "name": "mia"})).await;
    assert_eq!(mia.next("hello").await["may_close"], true);
    let mut jonas = connect(house.address, &token).await.unwrap();
    jonas.send(json!({"do": "enter", "room": "garden", "name": "jonas"})).await;
    assert_eq!(jonas.next("hello").await["may_close"], false);
    let refused = jonas.refused(close("garden")).await;
    assert!(refused.contains("opened"), "{refused}");
    assert!(mia.refused(close("lobby")).await.contains("not in"), "one closes the room one is in");
    mia.send(json!({"do": "enter", "room": "lobby", "name": "mia"})).await;
    assert_eq!(mia.next("hello").await["may_close"], false);
    assert!(mia.refused(close("lobby")).await.contains("web.rooms"), "it would be there again at the next start");
    house.close().await;
}

#[tokio::test]
async fn on_this_machine_alone_everybody_may_close_what_was_opened() {
    let house = WebFixture::open("anybody").await;
    Visitor::enter(house.address, "garden", "mia").await;
    let mut jonas = Visitor::enter(house.address, "garden", "jonas").await;
    jonas.send(close("garden")).await;
    jonas.taken("close").await;
    house.close().await;
}

#[tokio::test]
async fn the_order_asks_for_the_name_before_it_closes() {
    let house = WebFixture::open("order").await;
    let mut mia = Visitor::enter(house.address, "garden", "mia").await;
    let asked = mia.order("/close-room").await;
    assert!(asked.contains("/close-room garden") && asked.contains("everybody"), "{asked}");
    assert!(mia.order("/close-room lobby").await.contains("/close-room garden"));
    assert!(!was_left(&house, "garden"));
    assert!(mia.order("/help").await.contains("/close-room"));
    mia.send(json!({"do": "say", "key": "order", "text": "/close-room garden"})).await;
    assert_eq!(mia.next("closed").await["room"], "garden");
    while !was_left(&house, "garden") {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    house.close().await;
}
