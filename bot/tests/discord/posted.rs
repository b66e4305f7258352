//! What the bot does on Discord: once, in the right form, and never for ever.

use std::time::Duration;

use aizuchi::ports::{Platform as _, PostError, PostRequest};
use aizuchi_core::types::{MessageId, Place};
use aizuchi_test_servers::discord::{CHANNEL, GUILD, PRIVATE, ScriptedFailure, person};
use aizuchi_test_servers::folder::Scratch;
use serde_json::json;

use crate::house::DiscordFixture;

fn place() -> Place {
    Place::room(format!("discord:{GUILD}/{CHANNEL}"))
}

const POST: &str = "POST channels/";

#[tokio::test]
async fn a_long_answer_begins_with_an_embed_and_calls_nobody() {
    let (house, _scratch) = DiscordFixture::open().await;
    let question = MessageId::new(house.server.say(CHANNEL, &person(11, "mia"), "how?").to_string());
    let (place, text) = (place(), format!("@everyone <@12> {}", "あ".repeat(1900)));
    let first = PostRequest { key: "k/0", place: &place, text: &text, answering: Some(&question), more: true };
    let id = house.discord.post(first).await.unwrap();
    let rest = PostRequest { key: "k/1", text: "the rest", answering: None, more: false, ..first };
    house.discord.post(rest).await.unwrap();
    assert_eq!(house.discord.post(first).await.unwrap(), id, "the same key is the same post");
    let posts = house.server.posts(CHANNEL);
    assert_eq!(posts.len(), 2);
    assert_eq!((&posts[0]["content"], &posts[0]["embeds"][0]["description"]), (&json!(""), &json!(text)));
    assert_eq!(posts[0]["message_reference"]["message_id"], question.as_str());
    assert_eq!((&posts[1]["content"], &posts[1]["message_reference"]), (&json!("the rest"), &json!(null)));
    for asked in house.server.asked(POST) {
        assert_eq!(asked.body["allowed_mentions"], json!({"parse": [], "replied_user": true}));
        assert_eq!(asked.body["enforce_nonce"], true);
    }
    house.discord.react(&place, &question, "👀").await.unwrap();
    assert_eq!(house.server.asked("PUT channels/")[0].line.split('/').nth(5), Some("%F0%9F%91%80"));
    house.discord.typing(&place).await;
    assert_eq!(house.server.asked("/typing").len(), 1);
    house.close().await;
}

#[tokio::test]
async fn a_post_can_be_taken_back() {
    let (house, _scratch) = DiscordFixture::open().await;
    let place = place();
    let post = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
    let id = house.discord.post(post).await.unwrap();
    assert_eq!(house.server.posts(CHANNEL).len(), 1);
    for _ in 0..2 {
        assert_eq!(house.discord.withdraw(&place, &id).await, Ok(()), "once more changes nothing");
        assert!(house.server.posts(CHANNEL).is_empty());
    }
    house.close().await;
}

/// The post is out and the answer to it is lost, with Discord's memory of the nonce or without.
#[tokio::test]
async fn a_post_whose_answer_was_lost_is_found_again() {
    for forgotten in [false, true] {
        let (house, scratch) = DiscordFixture::open().await;
        let place = place();
        // Twice the same words are two posts.
        let before = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
        house.discord.post(before).await.unwrap();
        if forgotten {
            // Nor does the gateway tell of it.
            house.server.world.with(|world| world.sessions.clear());
        }
        house.server.mishap(POST, ScriptedFailure::AnswerLost);
        let posting = PostRequest { key: "k/1", ..before };
        let lost = house.discord.post(posting).await;
        assert!(matches!(lost, Err(PostError::TryLater { .. })), "{lost:?}");
        if forgotten {
            house.server.world.with(|world| world.nonces.clear());
        }
        let server = house.close().await;
        // The program starts again.
        let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
        let found = house.discord.post(posting).await.unwrap();
        let posts = house.server.posts(CHANNEL);
        assert_eq!(posts.len(), 2);
        assert_eq!(posts[1]["id"], found.as_str());
        assert_eq!(house.server.asked(POST).len(), 2, "it is not even tried again");
        house.close().await;
    }
}

/// The version before kept the same in a table of Discord's own.
#[tokio::test]
async fn a_post_that_an_older_version_left_in_mid_air_is_found_again() {
    let (house, _scratch) = DiscordFixture::open().await;
    let place = place();
    let posting = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
    house.server.mishap(POST, ScriptedFailure::AnswerLost);
    let lost = house.discord.post(posting).await;
    assert!(matches!(lost, Err(PostError::TryLater { .. })), "{lost:?}");
    house.server.world.with(|world| world.nonces.clear());
    let nonce = house.server.asked(POST)[0].body["nonce"].as_str().unwrap().to_owned();
    let scratch = Scratch::new("discord-older");
    let older = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    for version in 1..=10 {
        let step = format!("{}/src/stores/sqlite/migrations/{version:04}.sql", env!("CARGO_MANIFEST_DIR"));
        older.execute_batch(&std::fs::read_to_string(step).unwrap()).unwrap();
    }
    older.pragma_update(None, "user_version", 10).unwrap();
    let insert = "INSERT INTO discord_post VALUES ('k/0', ?1, ?2, ?3, NULL)";
    let begun = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64;
    older.execute(insert, rusqlite::params![nonce, CHANNEL as i64, begun]).unwrap();
    drop(older);

    let house = DiscordFixture::open_in(&scratch.0, house.close().await, &[]).await;
    let found = house.discord.post(posting).await.unwrap();
    assert_eq!(house.server.posts(CHANNEL).len(), 1);
    assert_eq!(house.server.posts(CHANNEL)[0]["id"], found.as_str());
    assert_eq!(house.server.asked(POST).len(), 1, "it is not even tried again");
    house.close().await;
}

#[tokio::test]
async fn a_limit_is_waited_for_and_a_lost_permission_is_named() {
    let (house, _scratch) = DiscordFixture::open().await;
    let place = place();
    let posting = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
    house.server.mishap(POST, ScriptedFailure::Limited { after_s: 0.4, global: false });
    let start = std::time::Instant::now();
    house.discord.post(posting).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(350), "it waits as long as the server says");
    // A longer wait is left to the caller, who learns how long it is.
    house.server.mishap(POST, ScriptedFailure::Limited { after_s: 9.5, global: false });
    let busy = house.discord.post(PostRequest { key: "k/1", ..posting }).await;
    let Err(PostError::TryLater { after: Some(after), .. }) = busy else { panic!("{busy:?}") };
    assert_eq!(after, Duration::from_millis(9500));
    let elsewhere = Place::room(format!("discord:{GUILD}/{PRIVATE}"));
    let posting = PostRequest { place: &elsewhere, ..posting };
    house.server.mishap(POST, ScriptedFailure::Page(502));
    let broken = house.discord.post(PostRequest { key: "k/2", ..posting }).await;
    assert!(matches!(broken, Err(PostError::TryLater { .. })), "{broken:?}");
    house.server.mishap(POST, ScriptedFailure::Refused { status: 403, code: 50013, message: "Missing Permissions" });
    let refused = house.discord.post(PostRequest { key: "k/3", ..posting }).await;
    assert!(matches!(&refused, Err(PostError::GiveUp { what }) if what.contains("Send Messages")), "{refused:?}");
    let gone = house.discord.react(&place, &MessageId::new("5"), "👀").await;
    assert!(matches!(gone, Err(PostError::GiveUp { .. })), "{gone:?}");
    house.close().await;
}

/// A limit of all calls holds for all calls: nobody asks again before it is over.
#[tokio::test]
async fn while_discord_takes_nothing_nobody_asks() {
    let (house, _scratch) = DiscordFixture::open().await;
    let place = place();
    let posting = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
    house.server.mishap(POST, ScriptedFailure::Limited { after_s: 120.0, global: true });
    let busy = house.discord.post(posting).await;
    assert!(
        matches!(busy, Err(PostError::TryLater { after: Some(after), .. }) if after == Duration::from_secs(120)),
        "{busy:?}"
    );
    let asked = house.server.asked("").len();
    for _ in 0..3 {
        let busy = house.discord.post(posting).await;
        let Err(PostError::TryLater { after: Some(after), .. }) = busy else { panic!("{busy:?}") };
        assert!(after > Duration::from_secs(60) && after < Duration::from_secs(120), "{after:?}");
        let busy = house.discord.react(&place, &MessageId::new("5"), "👀").await;
        assert!(matches!(busy, Err(PostError::TryLater { after: Some(_), .. })), "{busy:?}");
    }
    assert_eq!(house.server.asked("").len(), asked, "not once");
    house.close().await;
}

#[tokio::test]
async fn where_it_may_not_embed_it_speaks_plainly() {
    let (house, _scratch) = DiscordFixture::open().await;
    let question = MessageId::new(house.server.say(CHANNEL, &person(11, "mia"), "how?").to_string());
    house.server.mishap(POST, ScriptedFailure::Refused { status: 403, code: 50013, message: "Missing Permissions" });
    let place = place();
    let posting = PostRequest { key: "k/0", place: &place, text: "so", answering: Some(&question), more: true };
    house.discord.post(posting).await.unwrap();
    assert_eq!(house.server.posts(CHANNEL)[0]["content"], "so");
    house.close().await;
}
