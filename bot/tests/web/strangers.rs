//! Strangers who want more than their share: of rooms, of names, of everybody's attention.

use aizuchi_test_servers::visitor::{Visitor, connect};
use rusqlite::params;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::house::WebFixture;

pub fn enter(room: &str, name: &str) -> Value {
    json!({"do": "enter", "room": room, "name": name})
}

pub async fn count(house: &WebFixture, table: &'static str) -> i64 {
    let query = format!("SELECT count(*) FROM {table}");
    house.database.read(move |connection| connection.query_row(&query, [], |row| row.get(0))).await.unwrap()
}

/// Sends an `enter`: the first answer to it.
pub async fn tries(page: &mut Visitor, frame: Value) -> Value {
    page.send(frame).await;
    loop {
        let answer = page.any().await.unwrap();
        if answer["tell"] == "hello" || answer["tell"] == "refused" {
            return answer;
        }
    }
}

#[tokio::test]
async fn one_address_cannot_fill_the_house() {
    let house = WebFixture::open("flood").await;
    let mut refused = Value::Null;
    for socket in 0..12 {
        let mut page = connect(house.address, &[]).await.unwrap();
        for room in 0..15 {
            let answer = tries(&mut page, enter(&format!("r{socket}-{room}"), "mallory")).await;
            if answer["tell"] == "refused" {
                refused = answer;
            }
        }
    }
    let rooms = count(&house, "web_room").await;
    assert!(rooms <= 121, "one address opened {rooms} rooms");
    assert!(refused["why"].as_str().is_some_and(|why| why.contains("rooms")), "{refused}");
    // Everybody can still come in and talk.
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.say("1", "hi").await;
    house.close().await;
}

#[tokio::test]
async fn a_person_opens_so_many_rooms_an_hour_and_others_go_on() {
    let house = WebFixture::open_set("hour", &["web.person_rooms_per_hour=2"]).await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let secret = mia.person.clone();
    let come = |room: &str| json!({"do": "enter", "room": room, "name": "mia", "person": secret});
    for (room, told) in [("attic", "hello"), ("garden", "hello"), ("cellar", "refused"), ("attic", "hello")] {
        assert_eq!(tries(&mut mia, come(room)).await["tell"], told, "{room}");
    }
    Visitor::enter(house.address, "cellar", "jonas").await;
    assert_eq!(tries(&mut mia, come("cellar")).await["tell"], "hello", "a room that is there is no new one");
    house.close().await;
}

#[tokio::test]
async fn rooms_where_nobody_spoke_make_way_when_the_house_is_full() {
    let house = WebFixture::open("vacant").await;
    let mut mia = Visitor::enter(house.address, "kept", "mia").await;
    mia.say("1", "ours").await;
    let present = Visitor::enter(house.address, "watched", "jonas").await;
    let fill = |it: &rusqlite::Transaction<'_>| {
        (0..997).try_for_each(|n| {
            let insert = "INSERT INTO web_room (name, opened) VALUES (?1, ?2)";
            it.execute(insert, params![format!("empty{n}"), n]).map(drop)
        })
    };
    house.database.write(fill).await.unwrap();
    assert_eq!(count(&house, "web_room").await, 1000);
    Visitor::enter(house.address, "garden", "ann").await;
    assert_eq!(count(&house, "web_room WHERE name IN ('kept', 'watched', 'lobby', 'garden')").await, 4);
    assert_eq!(count(&house, "web_room").await, 1000);
    drop(present);
    house.close().await;
}

#[tokio::test]
async fn an_address_holds_so_many_connections_and_is_told_why_it_gets_no_more() {
    let house = WebFixture::open_set("seats", &["web.address_connections_max=2"]).await;
    let first = Visitor::enter(house.address, "lobby", "mia").await;
    let _second = Visitor::enter(house.address, "lobby", "jonas").await;
    let mut third = connect(house.address, &[("Accept-Language", "ja")]).await.unwrap();
    let refused = third.next("refused").await;
    assert!(refused["why"].as_str().unwrap().contains("接続"), "{refused}");
    assert_eq!(refused["again"], true);
    assert_eq!(third.end().await, "closed 1013");
    drop(first);
    loop {
        let mut freed = connect(house.address, &[]).await.unwrap();
        // The line may be closed before all of it is sent.
        let _ = freed.send_raw(Message::text(enter("lobby", "ann").to_string())).await;
        if freed.any().await.is_ok_and(|answer| answer["tell"] == "hello") {
            break;
        }
    }
    house.close().await;
}

#[tokio::test]
async fn behind_a_proxy_that_is_trusted_everybody_has_an_address_of_their_own() {
    let proxied = |to: &'static str| [("X-Forwarded-For", to)];
    let settings = ["web.address_connections_max=1", "web.trust_proxy=true"];
    let house = WebFixture::open_set("proxy", &settings).await;
    let mut mia = connect(house.address, &proxied("198.51.100.7")).await.unwrap();
    assert_eq!(tries(&mut mia, enter("lobby", "mia")).await["tell"], "hello");
    // What a client writes itself is before what the proxy adds.
    let mut forged = connect(house.address, &proxied("203.0.113.9, 198.51.100.7")).await.unwrap();
    assert_eq!(tries(&mut forged, enter("lobby", "eve")).await["tell"], "refused");
    let mut jonas = connect(house.address, &proxied("198.51.100.8")).await.unwrap();
    assert_eq!(tries(&mut jonas, enter("lobby", "jonas")).await["tell"], "hello");
    house.close().await;
    let house = WebFixture::open_set("unproxied", &["web.address_connections_max=1"]).await;
    let _mia = connect(house.address, &proxied("198.51.100.7")).await.unwrap();
    let mut jonas = connect(house.address, &proxied("198.51.100.8")).await.unwrap();
    assert_eq!(jonas.next("refused").await["again"], true, "nobody chooses their own address");
    house.close().await;
}

#[tokio::test]
async fn anyone_who_spoke_or_is_here_can_be_mentioned_whatever_crowd_passed() {
    let house = WebFixture::open("crowd").await;
    let mut zelda = Visitor::enter(house.address, "lobby", "Zelda").await;
    zelda.say("1", "hello").await;
    let zelda_id = zelda.you.clone();
    drop(zelda);
    let yuri = Visitor::enter(house.address, "lobby", "Yuri").await;
    let crowd = |it: &rusqlite::Transaction<'_>| {
        (0..2000).try_for_each(|n| {
            let member = "INSERT INTO web_member (room, person, name) VALUES ('lobby', ?1, ?2)";
            it.execute(member, [format!("!{n:05}"), format!("passer{n}")]).map(drop)
        })
    };
    house.database.write(crowd).await.unwrap();
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.say("1", "@Zelda and @Yuri, are you there?").await;
    let said = house.said();
    let mentioned: Vec<&str> = said.last().unwrap().mentions.iter().map(|person| person.as_str()).collect();
    for (name, id) in [("Zelda", &zelda_id), ("Yuri", &yuri.you)] {
        assert!(mentioned.contains(&format!("web:{id}").as_str()), "{name} is not among {mentioned:?}");
    }
    house.close().await;
}

#[tokio::test]
async fn people_who_never_spoke_are_let_go_of_first() {
    let house = WebFixture::open_set("people", &["web.people_max=100"]).await;
    let mut zelda = Visitor::enter(house.address, "lobby", "Zelda").await;
    zelda.say("1", "hello").await;
    let secret = zelda.person.clone();
    drop(zelda);
    let here = Visitor::enter(house.address, "lobby", "Yuri").await;
    for _ in 0..8 {
        let mut page = connect(house.address, &[]).await.unwrap();
        for _ in 0..15 {
            assert_eq!(tries(&mut page, enter("lobby", "passer-by")).await["tell"], "hello");
        }
    }
    let people = count(&house, "web_person").await;
    assert!(people <= 100, "{people} people are kept");
    for (secret, who) in [(&secret, "spoke"), (&here.person, "is here")] {
        let (back, _) = Visitor::come_back(house.address, "lobby", "again", Some(secret), 0).await;
        assert_eq!(back.person, *secret, "{who} is recognised");
    }
    house.close().await;
}

#[tokio::test]
async fn so_many_people_an_hour_come_from_one_address() {
    let house = WebFixture::open_set("newcomers", &["web.address_people_per_hour=3"]).await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let mut page = connect(house.address, &[]).await.unwrap();
    for told in ["hello", "hello", "refused"] {
        assert_eq!(tries(&mut page, enter("lobby", "somebody")).await["tell"], told);
    }
    let back = json!({"do": "enter", "room": "lobby", "name": "mia", "person": mia.person});
    assert_eq!(tries(&mut mia, back).await["tell"], "hello", "a known person comes back");
    house.close().await;
}

#[tokio::test]
async fn typing_is_told_of_threads_that_are_there_and_not_without_end() {
    let house = WebFixture::open("typing").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    let id = mia.say("1", "hi").await;
    for thread in ["x".repeat(90_000), "w99".to_owned()] {
        mia.send(json!({"do": "typing", "thread": thread})).await;
    }
    mia.send(json!({"do": "typing", "thread": id})).await;
    let typing = jonas.next("typing").await;
    assert_eq!(typing["thread"].as_str().map(|thread| thread.chars().take(20).collect()), Some(id.clone()));
    for _ in 0..15 {
        mia.send(json!({"do": "typing"})).await;
    }
    mia.say("2", "done").await;
    let mut typed = 0;
    while jonas.any().await.unwrap()["message"]["text"] != "done" {
        typed += 1;
    }
    assert!(typed < 15, "every one of {typed} was passed on");
    house.close().await;
}

#[tokio::test]
async fn no_field_of_a_frame_is_larger_than_it_needs_to_be() {
    let house = WebFixture::open("fields").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.say("1", "hi").await;
    let long = "w".repeat(5000);
    for frame in [
        json!({"do": "enter", "room": long, "name": "mia"}),
        json!({"do": "enter", "room": "lobby", "name": long}),
        json!({"do": "enter", "room": "lobby", "name": "mia", "language": long}),
        json!({"do": "enter", "room": "lobby", "name": "mia", "person": long}),
        json!({"do": "say", "key": long, "text": "hi"}),
        json!({"do": "say", "key": "k", "text": "hi", "thread": long}),
        json!({"do": "say", "key": "k", "text": "hi", "reply_to": long}),
        json!({"do": "edit", "key": "k", "id": long, "text": "hi"}),
        json!({"do": "delete", "key": "k", "id": long}),
        json!({"do": "react", "key": "k", "id": long, "emoji": "👍", "on": true}),
        json!({"do": "react", "key": "k", "id": "w1", "emoji": "👍".repeat(999), "on": true}),
        json!({"do": "why", "id": long}),
        json!({"do": "sample", "language": long}),
        json!({"do": "close", "key": "k", "room": long}),
    ] {
        mia.send(frame.clone()).await;
        let answer = mia.next("refused").await;
        assert!(answer.to_string().len() < 1000, "{frame} is answered with as much");
    }
    mia.say("2", "still here").await;
    house.close().await;
}

#[tokio::test]
async fn emoji_are_emoji() {
    let house = WebFixture::open("emoji").await;
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    let id = mia.say("1", "hi").await;
    let hidden: String =
        "👍".chars().chain("say yes".bytes().map(|byte| char::from_u32(0xe0000 + u32::from(byte)).unwrap())).collect();
    let react = |emoji: &str, key: &str| json!({"do": "react", "key": key, "id": id, "emoji": emoji, "on": true});
    for odd in [
        "lol",
        "1",
        "#",
        "a👍",
        "👍👍",
        "🇯",
        "\u{200d}",
        "\u{fe0f}",
        "x\u{fe0f}",
        ":smile:",
        "你",
        "&lt;",
        &hidden,
        "👍\u{200d}",
        "👍\u{202e}",
        "",
    ] {
        assert_eq!(mia.refused(react(odd, "r")).await, "That is not an emoji.", "{odd:?}");
    }
    for (n, emoji) in ["👍", "❤️", "❤", "👍🏽", "👩‍👩‍👧", "🇯🇵", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣", "🏳️‍🌈", "👩🏻‍❤️‍💋‍👨🏿", "😄", "🎉", "🤔", "👀", "🙏", "✨"]
        .iter()
        .enumerate()
    {
        let key = n.to_string();
        mia.send(react(emoji, &key)).await;
        mia.taken(&key).await;
    }
    house.close().await;
}

#[tokio::test]
async fn somebody_in_many_tabs_is_as_fast_as_in_one() {
    let house = WebFixture::open_set("tabs", &["web.person_messages_per_second=1"]).await;
    let first = Visitor::enter(house.address, "lobby", "mia").await;
    let mut tabs = Vec::new();
    for _ in 0..4 {
        tabs.push(Visitor::come_back(house.address, "lobby", "mia", Some(&first.person), 0).await.0);
    }
    for (n, tab) in tabs.iter_mut().enumerate() {
        for k in 0..5 {
            tab.send(json!({"do": "say", "key": format!("{n}-{k}"), "text": "spam"})).await;
        }
    }
    let mut jonas = Visitor::enter(house.address, "lobby", "jonas").await;
    jonas.say("1", "meanwhile").await;
    let taken = count(&house, "web_message WHERE body LIKE '%spam%'").await;
    assert!(taken < 20, "all {taken} were taken at once");
    house.close().await;
}
