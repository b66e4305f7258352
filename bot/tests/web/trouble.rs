//! What is refused, and that everything else goes on.

use std::time::Duration;

use aizuchi_test_servers::visitor::{Visitor, connect};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::Message;

use crate::house::{Engine, WebFixture, folder};

#[tokio::test]
async fn ten_megabytes_are_refused_and_the_room_goes_on() {
    let house = WebFixture::open("large").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    assert!(mia.refused(json!({"do": "say", "key": "1", "text": "x".repeat(8001)})).await.contains("8000 characters"));
    assert!(mia.refused(json!({"do": "say", "key": "1", "text": "\n "})).await.contains("empty"));
    let huge = json!({"do": "say", "key": "1", "text": "x".repeat(10_000_000)}).to_string();
    // The line may break while it is still being sent.
    let _ = mia.send_raw(Message::text(huge)).await;
    mia.end().await;
    jonas.say("1", &"あ".repeat(8000)).await;
    assert_eq!(house.said().len(), 1);
    let mut back = Visitor::enter(house.address, "lobby", "mia").await;
    back.say("1", "sorry").await;
    house.close().await;
}

#[tokio::test]
async fn odd_frames_are_refused_and_the_page_stays() {
    let house = WebFixture::open("odd").await;
    let mut mia = connect(house.address, &[]).await.unwrap();
    assert!(mia.refused(json!({"do": "say", "key": "1", "text": "hi"})).await.contains("Enter a room"));
    for (room, name, why) in [
        ("lobby", "", "name"),
        ("lobby", "Aizuchi", "bot's name"),
        ("lobby", "ａizuсhi\u{3164}", "bot's name"),
        ("lobby", &"x".repeat(41), "name"),
        ("a/b", "mia", "room"),
    ] {
        let refused = mia.refused(json!({"do": "enter", "room": room, "name": name})).await;
        assert!(refused.contains(why), "{room} {name}: {refused}");
    }
    mia.send(json!({"do": "enter", "room": "lobby", "name": "mia"})).await;
    mia.next("caught_up").await;
    for odd in [json!({"do": "dance"}), json!(7), json!({"do": "say"})] {
        assert!(mia.refused(odd).await.contains("understand"));
    }
    mia.send_raw(Message::binary(vec![0, 1, 2])).await.unwrap();
    mia.next("refused").await;
    let key = "k".repeat(101);
    assert!(mia.refused(json!({"do": "say", "key": key, "text": "hi"})).await.contains("key"));
    for (field, why) in [("thread", "thread"), ("reply_to", "no such message")] {
        let refused = mia.refused(json!({"do": "say", "key": "1", "text": "hi", field: "w99"})).await;
        assert!(refused.contains(why), "{refused}");
    }
    mia.say("1", "hi").await;
    assert_eq!(house.said().len(), 1);
    house.close().await;
}

#[tokio::test]
async fn what_passes_is_told_so_and_taken_when_it_is_over() {
    let house = WebFixture::open("passes").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let hello = json!({"do": "say", "key": "1", "text": "hi"});
    let rename = |from: &str, to: &str| format!("ALTER TABLE {from} RENAME TO {to}");
    let (away, back) = (rename("web_message", "elsewhere"), rename("elsewhere", "web_message"));
    house.database.write(move |it| it.execute_batch(&away)).await.unwrap();
    mia.send(hello.clone()).await;
    let refused = mia.next("refused").await;
    assert_eq!((&refused["key"], &refused["again"]), (&json!("1"), &json!(true)), "{refused}");
    house.database.write(move |it| it.execute_batch(&back)).await.unwrap();
    mia.send(hello).await;
    mia.taken("1").await;
    assert_eq!(house.said().len(), 1);
    mia.send(json!({"do": "say", "key": "2", "text": ""})).await;
    assert_eq!(mia.next("refused").await["again"], false, "what was wrong once stays so");
    house.close().await;
}

#[tokio::test]
async fn anyone_who_sends_slowly_is_dropped_while_others_go_on() {
    let house = WebFixture::open_set("loris", &["web.connections_max=4"]).await;
    let mut slow = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.unwrap();
        slow.push(stream);
    }
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.say("1", "still here").await;
    assert!(house.get("/live", &[]).await.starts_with("HTTP/1.1 200"));
    let start = Instant::now();
    for mut stream in slow {
        let _ = stream.write_all(b"x").await;
        let mut rest = Vec::new();
        let read = timeout(Duration::from_secs(20), stream.read_to_end(&mut rest)).await;
        assert!(read.is_ok(), "a slow connection is still open after {:?}", start.elapsed());
    }
    mia.say("2", "and here").await;
    house.close().await;
}

#[tokio::test]
async fn a_full_room_says_so() {
    let house = WebFixture::open_set("full", &["web.connections_max=2"]).await;
    let first = Visitor::enter(house.address, "lobby", "mia").await;
    let _second = Visitor::enter(house.address, "lobby", "jonas").await;
    let refused = connect(house.address, &[]).await.err().unwrap().to_string();
    assert!(refused.contains("503"), "{refused}");
    assert!(house.get("/", &[]).await.contains("200 OK"));
    drop(first);
    let mut freed = connect(house.address, &[]).await;
    while freed.is_err() {
        tokio::task::yield_now().await;
        freed = connect(house.address, &[]).await;
    }
    house.close().await;
}

#[tokio::test]
async fn an_occupied_port_is_named() {
    let house = WebFixture::open("port").await;
    let taken = format!("web.address={}", house.address);
    let refused = WebFixture::open_in(&folder("port-2"), &[&taken], Engine::Listens).await.err().unwrap();
    let refused = format!("{refused:#}");
    assert!(refused.contains(&house.address.to_string()) && refused.contains("--set web.address"), "{refused}");
    house.close().await;
}

#[tokio::test]
async fn pages_are_told_when_it_stops() {
    let house = WebFixture::open("stops").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    house.close().await;
    assert_eq!(mia.end().await, "closed 1012");
}

/// While this is held no timer fires: what happens now does not happen because somebody was waited for.
struct FrozenTime {
    thaw: std::sync::mpsc::Sender<()>,
    held: tokio::task::JoinHandle<bool>,
}

impl FrozenTime {
    fn begin() -> FrozenTime {
        let (thaw, thawed) = std::sync::mpsc::channel();
        // Tokio's clock does not run on by itself while it is paused and a thread is busy.
        let held = tokio::task::spawn_blocking(move || thawed.recv_timeout(Duration::from_secs(20)).is_ok());
        tokio::time::pause();
        FrozenTime { thaw, held }
    }

    /// Whether all that was waited for came without time going by.
    async fn end(self) -> bool {
        let _ = self.thaw.send(());
        let held = self.held.await.unwrap();
        tokio::time::resume();
        held
    }
}

#[tokio::test]
async fn anyone_who_opens_many_connections_and_finishes_none_keeps_nobody_waiting() {
    let house = WebFixture::open_set("crawl", &["web.connections_max=4"]).await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let frozen = FrozenTime::begin();
    let mut slow = Vec::new();
    for _ in 0..400 {
        let mut stream = TcpStream::connect(house.address).await.unwrap();
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await;
        slow.push(stream);
    }
    for path in ["/live", "/ready"] {
        assert!(house.get(path, &[]).await.starts_with("HTTP/1.1 200"), "{path}");
    }
    let mut rest = Vec::new();
    let _ = slow[0].read_to_end(&mut rest).await;
    assert!(frozen.end().await, "answered only after the slow connections had timed out");
    mia.say("1", "still here").await;
    house.close().await;
}
