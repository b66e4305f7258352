//! People talk, the engine hears, and what it does comes back.

use std::sync::Arc;

use aizuchi::journal::Journal;
use aizuchi::ports::{Platform as _, PostRequest};
use aizuchi::runtime::EngineEvent;
use aizuchi_core::listen::Unheard;
use aizuchi_core::types::{MessageId, PersonId, Place, RoomId, ThreadId};
use aizuchi_core::{Input, Trace};
use aizuchi_test_servers::visitor::{Visitor, connect, texts};
use serde_json::json;

use crate::house::{Engine, WebFixture, folder, view};

#[tokio::test]
async fn two_people_talk_and_the_engine_hears_them() {
    let house = WebFixture::open("talk").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    let question = mia.say("1", "@jonas did you cover them?").await;
    let heard = jonas.next("said").await;
    assert_eq!(heard["message"]["text"], "@jonas did you cover them?");
    assert_eq!(heard["message"]["author"], "mia");
    assert_eq!(heard["message"]["author_id"], mia.you);
    jonas.send(json!({"do": "say", "key": "1", "text": "no", "reply_to": question})).await;
    jonas.taken("1").await;
    jonas.send(json!({"do": "say", "key": "2", "text": "@Aizuchi, you?", "thread": question})).await;
    jonas.taken("2").await;
    assert_eq!(texts(&[mia.next("said").await, mia.next("said").await, mia.next("said").await])[2], "@Aizuchi, you?");

    let [asked, answered, called] = &house.said()[..] else { panic!("{:?}", house.said()) };
    assert_eq!(asked.place, Place::room("web:lobby"));
    assert_eq!(asked.mentions, std::slice::from_ref(&answered.author.id));
    assert!(!asked.mentions_me && called.mentions_me);
    let reply = answered.reply.clone().unwrap();
    assert_eq!((reply.to, reply.to_me), (Some(MessageId::new(&question)), false));
    assert_eq!(reply.to_person, Some(asked.author.id.clone()));
    assert_eq!(called.place.thread, Some(ThreadId::new(&question)));
    // Anyone who knows the secret can speak as that person: it stays between the page and the server.
    for secret in [&mia.person, &jonas.person] {
        assert!(!format!("{:?}{heard}", house.said()).contains(secret.as_str()));
    }
    house.close().await;
}

#[tokio::test]
async fn what_it_posts_is_stored_once_and_can_be_replied_to() {
    let house = WebFixture::open("posts").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let question = MessageId::new(mia.say("1", "how cold can tomatoes get?").await);
    let place = Place::room("web:lobby");
    let posting =
        PostRequest { key: "web:lobby#1/0", place: &place, text: "10 °C", answering: Some(&question), more: false };
    let first = house.web.post(posting).await.unwrap();
    assert_eq!(house.web.post(posting).await, Ok(first.clone()));
    house.web.react(&place, &question, "👀").await.unwrap();
    house.web.react(&place, &question, "👀").await.unwrap();
    house.web.typing(&place).await;
    mia.next("said").await;
    let post = mia.next("said").await;
    assert_eq!((&post["message"]["voice"], &post["message"]["reply_to"]), (&json!("Me"), &json!(question.as_str())));
    let reacted = mia.next("changed").await;
    assert_eq!(reacted["message"]["reactions"], json!([["👀", ["aizuchi"]]]));
    assert_eq!(mia.next("typing").await["name"], "aizuchi");
    mia.send(json!({"do": "say", "key": "2", "text": "thanks", "reply_to": first.as_str()})).await;
    mia.taken("2").await;
    assert!(house.said()[1].reply.clone().unwrap().to_me);
    let missing = MessageId::new("w999");
    assert!(house.web.react(&place, &missing, "👀").await.is_err());
    assert!(house.web.post(PostRequest { place: &Place::room("discord:1"), ..posting }).await.is_err());
    house.close().await;
}

#[tokio::test]
async fn decisions_and_views_are_shown_and_come_back_after_a_reload() {
    let house = WebFixture::open("decisions").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let id = mia.say("1", "hm").await;
    let message = &house.said()[0];
    let trace = Trace::passed_over(message, Unheard::ChannelOff);
    Journal::new(house.database.clone()).keep([trace.clone()].into()).await.unwrap();
    house.events.send(EngineEvent::Decided(Arc::new(trace))).unwrap();
    house.events.send(EngineEvent::Changed(RoomId::new("web:lobby"), Arc::new(view()))).unwrap();
    house.events.send(EngineEvent::Changed(RoomId::new("discord:1"), Arc::new(view()))).unwrap();
    let decided = mia.next("decided").await["trace"].clone();
    assert_eq!((&decided["id"], &decided["outcome"], &decided["micros"]), (&json!(id), &json!("ignored"), &json!(0)));
    assert_eq!(mia.next("view").await["view"]["listens"], true);

    let (mut again, _) = Visitor::come_back(house.address, "lobby", "mia", Some(&mia.person), mia.seq).await;
    assert_eq!(again.next("view").await["view"]["listens"], true);
    assert_eq!(again.next("decided").await["trace"], decided);
    again.send(json!({"do": "why", "id": id})).await;
    assert_eq!(again.next("decided").await["trace"], decided);
    assert!(again.order("/why").await.contains("it does not listen in this channel"));
    assert!(again.order(&format!("/why {id}")).await.starts_with(&format!("{id} (mia): Ignored")));
    assert!(again.order("/why w77").await.contains("no decision"));
    house.close().await;
}

#[tokio::test]
async fn what_was_not_heard_was_not_stored_and_is_said_again() {
    let folder = folder("restart");
    let house = WebFixture::open_in(&folder, &[], Engine::Deaf).await.unwrap();
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    // Neither is taken before it is heard, so the page will send it again.
    mia.send(json!({"do": "say", "key": "1", "text": "one"})).await;
    mia.send(json!({"do": "say", "key": "2", "text": "two"})).await;
    let person = mia.person.clone();
    house.close().await;

    let house = WebFixture::open_in(&folder, &[], Engine::Listens).await.unwrap();
    let (mut mia, told) = Visitor::come_back(house.address, "lobby", "mia", Some(&person), 0).await;
    assert!(texts(&told).is_empty(), "{told:?}");
    let id = mia.say("1", "one").await;
    mia.say("2", "two").await;
    assert_eq!(mia.say("1", "one").await, id, "said again with the same key, it is the same message");
    let heard: Vec<String> = house.heard.lock().unwrap().iter().map(words).collect();
    assert_eq!(heard, ["said one", "said two"]);
    let said = house.said();
    assert_eq!(said[0].author.id, said[1].author.id);
    assert_ne!(said[0].author.id, PersonId::new(format!("web:{person}")));
    house.close().await;
}

fn words(input: &Input) -> String {
    match input {
        Input::Said(message) => format!("said {}", message.text),
        Input::Changed(change) => format!("changed {}", change.text.as_deref().unwrap_or_default()),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn what_is_said_behind_an_entry_that_failed_for_now_is_worth_trying_again() {
    let folder = folder("locked");
    let house = WebFixture::open_in(&folder, &[], Engine::Listens).await.unwrap();
    let mut page = connect(house.address, &[]).await.unwrap();
    let other = rusqlite::Connection::open(folder.join("aizuchi.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    page.send(json!({"do": "enter", "room": "lobby", "name": "mia"})).await;
    page.send(json!({"do": "say", "key": "1", "text": "is anybody there?"})).await;
    let mut refused = Vec::new();
    for _ in 0..2 {
        let frame = page.next("refused").await;
        refused.push((frame["key"].clone(), frame["again"].clone()));
    }
    assert_eq!(refused, [(json!(null), json!(true)), (json!("1"), json!(true))]);
    other.execute_batch("ROLLBACK").unwrap();
    house.close().await;
}

#[tokio::test]
async fn what_was_stored_and_never_heard_is_heard_before_anything_new() {
    let folder = folder("leftovers");
    let house = WebFixture::open_in(&folder, &[], Engine::Listens).await.unwrap();
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.say("1", "one").await;
    let one = serde_json::to_string(&house.heard.lock().unwrap()[0]).unwrap();
    house.close().await;
    let store = rusqlite::Connection::open(folder.join("aizuchi.db")).unwrap();
    let insert = "INSERT INTO inbox (platform, key, at, body) VALUES ('web', 'w1', 0, ?1)";
    store.execute(insert, [one]).unwrap();
    drop(store);

    for expected in [&["said one", "said two"][..], &["said two"]] {
        let house = WebFixture::open_in(&folder, &[], Engine::Listens).await.unwrap();
        let mut lena = Visitor::enter(house.address, "lobby", "lena").await;
        lena.say("1", "two").await;
        let heard: Vec<String> = house.heard.lock().unwrap().iter().map(words).collect();
        assert_eq!(heard, expected, "each is heard once");
        house.close().await;
    }
}

#[tokio::test]
async fn a_sample_is_played_in_a_room_of_its_own() {
    let house = WebFixture::open("sample").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.send(json!({"do": "sample", "language": "ja"})).await;
    let room = mia.next("moved").await["room"].as_str().unwrap().to_owned();
    assert!(room.starts_with("sample-ja-"), "{room}");
    mia.send(json!({"do": "enter", "room": room, "name": "mia", "person": mia.person, "since": 0})).await;
    assert_eq!(mia.next("hello").await["rooms"], json!(["lobby", room]));
    let first = mia.next("said").await;
    assert_eq!(first["message"]["author"], "みお");
    let second = mia.next("said").await;
    assert_eq!(second["message"]["author"], "けん");
    assert_eq!(house.said()[0].place, Place::room(format!("web:{room}")));
    assert!(mia.refused(json!({"do": "sample", "language": "tlh"})).await.contains("en"));
    // Nobody opens a room that looks like one.
    let enter = json!({"do": "enter", "room": "sample-mine", "name": "mia"});
    assert!(mia.refused(enter).await.contains("room"));
    house.close().await;
}
