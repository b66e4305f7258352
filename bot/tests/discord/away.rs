//! Cuts, resumes, expired sessions, and being sent away for good.

use std::time::Duration;

use aizuchi_core::types::Time;
use serde_json::json;

use crate::house::{House, Scratch};
use crate::server::{CHANNEL, Mishap, Order, Server, person};

#[tokio::test]
async fn what_is_said_during_a_cut_comes_with_the_resume_once() {
    let (house, _scratch) = House::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    for (number, order) in
        [|| Order::Cut, || Order::Close(4000), || Order::Send(json!({"op": 7, "d": null}))].iter().enumerate()
    {
        // What is said after the order is not heard on the old line.
        house.server.world.with(|world| {
            world.order(order);
            world.say(CHANNEL, &mia, json!({"content": "meanwhile"}));
        });
        house.server.until("it resumed", |world| world.resumed as usize == number + 1).await;
        let said = house.says(2 + number).await;
        assert!(!said.last().unwrap().backfilled);
    }
    assert_eq!(house.server.world.with(|world| world.identified), 1);
    house.close().await;
}

/// The session is gone: what was missed is fetched, and can still be answered when it has only just been said.
#[tokio::test]
async fn after_an_expired_session_the_gap_is_filled() {
    let (house, _scratch) = House::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    // And Discord does not give it at once.
    house.server.mishap("GET channels/", Mishap::Refused { status: 503, code: 0, message: "busy" });
    house.server.world.with(|world| {
        world.order(|| Order::Cut);
        world.sessions.clear();
        for text in ["missed", "missed too"] {
            let id = world.snowflake();
            world.keep(id, CHANNEL, &mia, json!({"content": text}));
        }
    });
    let said = house.says(3).await;
    assert_eq!((&*said[1].text, &*said[2].text), ("missed", "missed too"));
    assert!(!said[2].backfilled, "it has only just been said");
    assert_eq!(house.server.world.with(|world| (world.identified, world.resumed)), (2, 0));
    house.close().await;
}

#[tokio::test]
async fn what_was_said_while_the_program_was_off_is_heard_and_not_answered() {
    let (house, scratch) = House::open().await;
    let mia = person(11, "mia");
    // As if the program had last heard something two hours ago.
    let hour = 3_600_000;
    let now = jiff::Timestamp::now().as_millisecond() as u64;
    house.server.world.with(|world| {
        let id = world.snowflake_at(now - 2 * hour);
        world.say_as(id, CHANNEL, &mia, json!({"content": "heard"}));
    });
    assert_eq!(house.says(1).await[0].at, Time(now - 2 * hour));
    let server = house.close().await;
    server.world.with(|world| {
        world.sessions.clear();
        for minute in 0..60 {
            let id = world.snowflake_at(now - hour + minute * 60_000 - 60_000);
            world.keep(id, CHANNEL, &mia, json!({"content": format!("missed {minute}")}));
        }
    });
    let house = House::open_in(&scratch.0, server, &["discord.backfill_messages=50"]).await;
    let said = house.says(50).await;
    assert_eq!((&*said[0].text, &*said[49].text), ("missed 10", "missed 59"));
    assert!(said.iter().all(|message| message.backfilled));
    let server = house.close().await;
    // Nothing was missed since.
    server.world.with(|world| world.sessions.clear());
    let house = House::open_in(&scratch.0, server, &[]).await;
    house.connected().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    house.says(0).await;
    house.close().await;
}

#[tokio::test]
async fn a_revoked_token_is_told_with_what_to_do() {
    let (house, _scratch) = House::open().await;
    house.server.world.with(|world| {
        world.token = "another".to_owned();
        world.order(|| Order::Close(4004));
    });
    let why = house.sent_away().await;
    assert!(why.contains("token") && why.contains("Reset Token"), "{why}");
    // At the start it is the REST API that refuses.
    let (scratch, server) = (Scratch::new(), Server::start().await);
    server.world.with(|world| world.token = "another".to_owned());
    let why = House::open_in(&scratch.0, server, &[]).await.sent_away().await;
    assert!(why.contains("Reset Token"), "{why}");
}

#[tokio::test]
async fn a_missing_intent_is_named_with_where_to_switch_it_on() {
    let (scratch, server) = (Scratch::new(), Server::start().await);
    server.world.with(|world| world.message_content_granted = false);
    let why = House::open_in(&scratch.0, server, &[]).await.sent_away().await;
    assert!(why.contains("Message Content Intent") && why.contains("discord.com/developers"), "{why}");
}

#[tokio::test]
async fn it_asks_again_until_discord_answers() {
    let (scratch, server) = (Scratch::new(), Server::start().await);
    server.mishap("gateway/bot", Mishap::Page(502));
    server.mishap("gateway/bot", Mishap::Refused { status: 500, code: 0, message: "oh" });
    let house = House::open_in(&scratch.0, server, &[]).await;
    house.connected().await;
    house.close().await;
}
