//! Cuts, resumes, expired sessions, and being sent away for good.

use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::types::Time;
use aizuchi_test_servers::discord::{CHANNEL, DiscordServer, GUILD, Order, PRIVATE, ScriptedFailure, person};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::eventually;
use serde_json::json;

use crate::house::DiscordFixture;

#[tokio::test]
async fn what_is_said_during_a_cut_comes_with_the_resume_once() {
    let (house, _scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    let orders: [fn() -> Order; 4] = [
        || Order::Cut,
        || Order::Close(4000),
        || Order::Send(json!({"op": 7, "d": null})),
        || Order::Send(json!({"op": 9, "d": true})),
    ];
    for (number, order) in orders.iter().enumerate() {
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
    let (house, _scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    // And Discord does not give it at once.
    house.server.mishap("GET channels/", ScriptedFailure::Refused { status: 503, code: 0, message: "busy" });
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

/// A room heard what was said last before what it had missed.
#[tokio::test]
async fn what_is_said_while_a_gap_is_filled_is_heard_after_it() {
    let (house, _scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    // Discord does not give it at once.
    for _ in 0..2 {
        house.server.mishap("GET channels/", ScriptedFailure::Refused { status: 503, code: 0, message: "busy" });
    }
    house.server.world.with(|world| {
        world.order(|| Order::Cut);
        world.sessions.clear();
        let id = world.snowflake();
        world.keep(id, CHANNEL, &mia, json!({"content": "missed"}));
    });
    house
        .server
        .until("it is back", |world| world.identified == 2 && world.sessions.values().any(|it| it.line.is_some()))
        .await;
    let id = house.server.say(CHANNEL, &mia, "live");
    let reaction = json!({"user_id": "11", "channel_id": CHANNEL.to_string(), "message_id": id.to_string(),
        "guild_id": GUILD.to_string(), "emoji": {"id": null, "name": "👍"}});
    house.server.dispatch("MESSAGE_REACTION_ADD", reaction);
    let reacted = |input: &Input| matches!(input, Input::Reacted(_));
    let heard = eventually("the reaction is heard", async || {
        let heard = house.heard.lock().unwrap().clone();
        heard.iter().any(reacted).then_some(heard)
    })
    .await;
    let at = |text: &str| heard.iter().position(|input| matches!(input, Input::Said(said) if &*said.text == text));
    let order = (at("before"), at("missed"), at("live"), heard.iter().position(reacted));
    assert!(order.1.is_some() && order.0 < order.1 && order.1 < order.2 && order.2 < order.3, "{order:?}: {heard:#?}");
    house.close().await;
}

/// Discord will not have the session any more, and says so in one of its ways.
#[tokio::test]
async fn a_session_that_is_refused_begins_anew_and_nothing_is_missed() {
    let (house, _scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    let orders: [fn() -> Order; 3] = [
        || Order::Close(4007),
        || Order::Close(4009),
        || Order::Send(json!({"op": 9, "s": null, "t": null, "d": false})),
    ];
    for (number, order) in orders.iter().enumerate() {
        house.server.world.with(|world| {
            world.order(order);
            // It knows nothing of the session from here on.
            world.sessions.clear();
            let id = world.snowflake();
            world.keep(id, CHANNEL, &mia, json!({"content": format!("meanwhile {number}")}));
        });
        house.server.until("it began anew", |world| world.identified as usize == number + 2).await;
        let said = house.says(2 + number).await;
        assert_eq!(&*said.last().unwrap().text, format!("meanwhile {number}"));
    }
    assert_eq!(house.server.world.with(|world| world.resumed), 0);
    house.close().await;
}

/// In places that had nothing in them, or were not there at all when the bot last listened.
#[tokio::test]
async fn what_was_first_said_while_it_was_away_is_heard() {
    let (house, scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(PRIVATE, &mia, "before");
    let id = house.server.world.with(|world| world.snowflake());
    let young = json!({"id": id.to_string(), "type": 11, "parent_id": CHANNEL.to_string(), "name": "frost?",
        "guild_id": GUILD.to_string(), "newly_created": true});
    house.server.world.with(|world| world.channels.insert(id, young.clone()));
    house.server.dispatch("THREAD_CREATE", young);
    house.server.say(PRIVATE, &mia, "and then");
    house.says(2).await;
    let server = house.close().await;
    let later = server.world.with(|world| {
        world.sessions.clear();
        let later = world.snowflake();
        let thread = json!({"id": later.to_string(), "type": 11, "parent_id": CHANNEL.to_string(), "name": "hail?",
            "guild_id": GUILD.to_string()});
        world.channels.insert(later, thread);
        for (channel, text) in [(CHANNEL, "in an empty one"), (id, "in a new one"), (later, "in one made meanwhile")] {
            let id = world.snowflake();
            world.keep(id, channel, &mia, json!({"content": text}));
        }
        later
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    let mut said = house.says(3).await;
    said.sort_by_key(|message| message.id.as_str().to_owned());
    let room = format!("discord:{GUILD}/{CHANNEL}");
    let told: Vec<_> = said.iter().map(|message| (message.place.to_string(), &*message.text)).collect();
    assert_eq!(told[0], (room.clone(), "in an empty one"));
    assert_eq!(told[1], (format!("{room}/{id}"), "in a new one"));
    assert_eq!(told[2], (format!("{room}/{later}"), "in one made meanwhile"));
    house.close().await;
}

/// It was made while the bot was connected, and nobody told: what is said there after the cut is heard.
#[tokio::test]
async fn a_thread_nobody_told_of_is_heard_after_a_gap() {
    let (house, scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    let [quiet, spoken] = [(); 2].map(|()| house.server.world.with(|world| world.snowflake()));
    for id in [quiet, spoken] {
        let thread = json!({"id": id.to_string(), "type": 11, "parent_id": CHANNEL.to_string(), "name": "frost?",
            "guild_id": GUILD.to_string()});
        house.server.world.with(|world| world.channels.insert(id, thread));
    }
    // Where something is said, the bot finds out where it is, even if Discord does not answer at once.
    house
        .server
        .mishap(&format!("GET channels/{spoken}"), ScriptedFailure::Refused { status: 500, code: 0, message: "oh" });
    house.server.say(spoken, &mia, "in one that nobody told of");
    house.server.say(CHANNEL, &mia, "and elsewhere");
    let room = format!("discord:{GUILD}/{CHANNEL}");
    assert_eq!(house.says(3).await[1].place.to_string(), format!("{room}/{spoken}"));
    let server = house.close().await;
    server.world.with(|world| {
        world.sessions.clear();
        for (channel, text) in [(quiet, "the first words"), (spoken, "more words")] {
            let id = world.snowflake();
            world.keep(id, channel, &mia, json!({"content": text}));
        }
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    let mut said = house.says(2).await;
    said.sort_by_key(|message| message.id.as_str().to_owned());
    let told: Vec<_> = said.iter().map(|message| (message.place.to_string(), &*message.text)).collect();
    assert_eq!(told[0], (format!("{room}/{quiet}"), "the first words"));
    assert_eq!(told[1], (format!("{room}/{spoken}"), "more words"));
    let server = house.close().await;
    // An old channel that the bot was let into only now is heard from now on.
    server.world.with(|world| {
        world.sessions.clear();
        let old = json!({"id": (4_u64 << 22).to_string(), "type": 0, "name": "old", "guild_id": GUILD.to_string()});
        world.channels.insert(4 << 22, old);
        let id = world.snowflake();
        world.keep(id, 4 << 22, &mia, json!({"content": "not for it"}));
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house.connected().await;
    house.server.say(4 << 22, &mia, "for it too");
    assert_eq!(&*house.says(1).await[0].text, "for it too");
    house.close().await;
}

/// A server may not say which message was the last in a channel.
#[tokio::test]
async fn a_gap_that_the_server_does_not_show_is_found() {
    let (house, scratch) = DiscordFixture::open().await;
    let mia = person(11, "mia");
    house.server.say(CHANNEL, &mia, "before");
    house.says(1).await;
    let server = house.close().await;
    server.world.with(|world| {
        world.sessions.clear();
        let id = world.snowflake();
        world.keep(id, CHANNEL, &mia, json!({"content": "missed"}));
        world.channels.get_mut(&CHANNEL).unwrap()["last_message_id"] = json!(null);
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    assert_eq!(&*house.says(1).await[0].text, "missed");
    house.close().await;
}

#[tokio::test]
async fn what_was_said_while_the_program_was_off_is_heard_and_not_answered() {
    let (house, scratch) = DiscordFixture::open().await;
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
    let house = DiscordFixture::open_in(&scratch.0, server, &["discord.backfill_messages=50"]).await;
    let said = house.says(50).await;
    assert_eq!((&*said[0].text, &*said[49].text), ("missed 10", "missed 59"));
    assert!(said.iter().all(|message| message.backfilled));
    let server = house.close().await;
    // Nothing was missed since.
    server.world.with(|world| world.sessions.clear());
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house.connected().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    house.says(0).await;
    house.close().await;
}

#[tokio::test]
async fn a_revoked_token_is_told_with_what_to_do() {
    let (house, _scratch) = DiscordFixture::open().await;
    house.server.world.with(|world| {
        world.token = "another".to_owned();
        world.order(|| Order::Close(4004));
    });
    let why = house.sent_away().await;
    assert!(why.contains("token") && why.contains("Reset Token"), "{why}");
    // At the start it is the REST API that refuses.
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    server.world.with(|world| world.token = "another".to_owned());
    let why = DiscordFixture::open_in(&scratch.0, server, &[]).await.sent_away().await;
    assert!(why.contains("Reset Token"), "{why}");
}

#[tokio::test]
async fn a_missing_intent_is_named_with_where_to_switch_it_on() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    server.world.with(|world| world.message_content_granted = false);
    let why = DiscordFixture::open_in(&scratch.0, server, &[]).await.sent_away().await;
    assert!(why.contains("Message Content Intent") && why.contains("discord.com/developers"), "{why}");
}

#[tokio::test]
async fn it_asks_again_until_discord_answers() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    server.mishap("gateway/bot", ScriptedFailure::Page(502));
    server.mishap("gateway/bot", ScriptedFailure::Refused { status: 500, code: 0, message: "oh" });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house.connected().await;
    house.close().await;
}
