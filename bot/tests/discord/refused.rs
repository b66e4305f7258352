//! A token that is refused: once by mistake, or for good. And a registration that is refused, with the reason in words.

use aizuchi::check::{Check, Level};
use aizuchi::platforms::discord::examine;
use aizuchi::ports::{Platform as _, PostError, PostRequest};
use aizuchi_core::types::Place;
use aizuchi_test_servers::discord::{CHANNEL, DiscordServer, GUILD, ScriptedFailure, TOKEN};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::logs::Logs;
use serde_json::json;

use crate::house::{DiscordFixture, settings};

const POST: &str = "POST channels/";
const UNAUTHORIZED: ScriptedFailure = ScriptedFailure::Refused { status: 401, code: 0, message: "401: Unauthorized" };

#[tokio::test]
async fn one_refusal_of_a_good_token_is_not_the_end() {
    let (house, _scratch) = DiscordFixture::open().await;
    let place = Place::room(format!("discord:{GUILD}/{CHANNEL}"));
    let posting = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
    house.server.mishap(POST, UNAUTHORIZED);
    let first = house.discord.post(posting).await;
    assert!(matches!(first, Err(PostError::TryLater { .. })), "{first:?}");
    house.discord.post(posting).await.unwrap();
    // Nor where the second call finds nothing out.
    house.server.mishap(POST, UNAUTHORIZED);
    house.server.mishap("GET users/@me", ScriptedFailure::Page(502));
    let second = house.discord.post(PostRequest { key: "k/1", ..posting }).await;
    assert!(matches!(second, Err(PostError::TryLater { .. })), "{second:?}");
    house.discord.post(PostRequest { key: "k/1", ..posting }).await.unwrap();
    assert_eq!(house.server.posts(CHANNEL).len(), 2);
    assert_eq!(house.discord.stopped(), None);
    house.close().await;
}

/// It does not go on listening as if it could answer.
#[tokio::test]
async fn a_token_that_is_refused_twice_is_the_end_and_told() {
    let (house, _scratch) = DiscordFixture::open().await;
    let place = Place::room(format!("discord:{GUILD}/{CHANNEL}"));
    let posting = PostRequest { key: "k/0", place: &place, text: "hello", answering: None, more: false };
    house.server.world.with(|world| world.token = "another".to_owned());
    let refused = house.discord.post(posting).await;
    assert!(matches!(&refused, Err(PostError::GiveUp { what }) if what.contains("token")), "{refused:?}");
    let (asked, discord) = (house.server.asked("").len(), house.discord.clone());
    assert!(house.discord.post(PostRequest { key: "k/1", ..posting }).await.is_err());
    assert_eq!(house.server.asked("").len(), asked, "nobody knocks on and on");
    let why = house.sent_away().await;
    assert!(why.contains("Reset Token"), "{why}");
    assert_eq!(discord.stopped(), Some(why));
}

#[tokio::test]
async fn a_refused_registration_names_the_fields() {
    let (scratch, server, logs) = (Scratch::new("discord"), DiscordServer::start().await, Logs::collect());
    let long =
        json!({"_errors": [{"code": "BASE_TYPE_BAD_LENGTH", "message": "Must be between 1 and 100 in length."}]});
    let errors = json!({"0": {"options": {"2": {"description": long.clone(), "name": long}}}});
    let body = json!({"code": 50035, "message": "Invalid Form Body", "errors": errors});
    server.mishap("/commands", ScriptedFailure::Answer(400, body));
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    let told = logs.until("register").await;
    assert!(told.contains("0.options.2.description: Must be between 1 and 100 in length."), "{told}");
    assert!(told.contains("0.options.2.name: ") && !told.contains("invite the bot"), "{told}");
    house.close().await;
}

#[tokio::test]
async fn a_refused_registration_says_what_to_do_about_it() {
    for (mishap, advice) in [
        (ScriptedFailure::Refused { status: 403, code: 50001, message: "Missing Access" }, "applications.commands"),
        (ScriptedFailure::Refused { status: 403, code: 40001, message: "Unauthorized" }, "token"),
    ] {
        let (scratch, server, logs) = (Scratch::new("discord"), DiscordServer::start().await, Logs::collect());
        server.mishap("/commands", mishap);
        let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
        let told = logs.until("register").await;
        assert!(told.contains(advice), "{advice} is not told: {told}");
        house.close().await;
    }
}

/// Discord's trouble passes, and the commands are there after all.
#[tokio::test]
async fn a_registration_is_tried_again() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    server.mishap("/commands", ScriptedFailure::Page(502));
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house
        .server
        .until("it is tried again", |world| {
            world.asked.iter().filter(|asked| asked.line.ends_with("/commands")).count() == 2
        })
        .await;
    house.close().await;
}

async fn findings(server: &DiscordServer) -> Vec<Check> {
    examine(&settings(server, &[]).0, &TOKEN.into()).await
}

#[tokio::test]
async fn the_doctor_does_not_guess() {
    let server = DiscordServer::start().await;
    server.world.with(|world| {
        world.guild["roles"][0].as_object_mut().unwrap().remove("permissions");
    });
    let untold = findings(&server).await;
    let Some(wrong) = untold.last() else { panic!("{untold:?}") };
    assert!(
        wrong.level == Level::Warn && wrong.told.contains("does not report") && !wrong.told.contains("lacks"),
        "{wrong:?}"
    );
    server.mishap("GET users/@me", ScriptedFailure::Refused { status: 403, code: 40001, message: "Unauthorized" });
    let refused = findings(&server).await;
    let [Check { level: Level::Fail, fix: Some(fix), .. }] = &refused[..] else { panic!("{refused:?}") };
    assert!(fix.contains("DISCORD_TOKEN") && !fix.contains("network"), "{fix}");
}
