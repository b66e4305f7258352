//! Without its web room: on Discord or Slack alone, or nowhere.

use aizuchi_test_servers::discord::{self, BOT, CHANNEL, GUILD, person};
use aizuchi_test_servers::slack::{self, APP_TOKEN, BOT_TOKEN};
use serde_json::json;

use crate::program::{eventually, new_home};

const CLOSED: &[&str] = &["web.enabled=false"];

#[tokio::test]
async fn with_nothing_to_listen_to_it_says_so() {
    let mut home = new_home(CLOSED);
    // An empty one is none.
    home.set_variable("DISCORD_TOKEN", " ");
    let (code, said) = home.refused().await;
    assert_eq!(code, Some(1), "{said}");
    for words in ["nowhere to listen", "web.enabled", "DISCORD_TOKEN", "SLACK_BOT_TOKEN and SLACK_APP_TOKEN"] {
        assert!(said.contains(words), "{words:?} is not told:\n{said}");
    }
    assert!(!home.data().exists(), "it has not begun");
}

#[tokio::test]
async fn one_token_of_two_is_not_enough() {
    let mut home = new_home(CLOSED);
    home.set_variable("SLACK_BOT_TOKEN", BOT_TOKEN);
    let (code, said) = home.refused().await;
    assert!(code == Some(1) && said.contains("Slack also needs the token SLACK_APP_TOKEN"), "{said}");
}

#[tokio::test]
async fn on_discord_alone_it_answers_and_stops_when_it_is_told() {
    let server = discord::DiscordServer::start().await;
    let mut home = new_home(CLOSED);
    home.set(format!("discord.api_url={}", server.url()));
    home.set_variable("DISCORD_TOKEN", discord::TOKEN);
    let mut program = home.start_telling("aizuchi joins Discord.").await;
    server.until("it is there", |world| world.sessions.values().any(|session| session.line.is_some())).await;
    server.say(CHANNEL, &person(11, "mia"), &format!("<@{BOT}> are you there?"));
    server.until_posts(CHANNEL, 1).await;
    assert!(!program.said().contains("is in the room"), "{}", program.said());
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

/// Every call is refused, so it can answer nobody there: `/ready` says so to the person who runs it.
#[tokio::test]
async fn a_token_that_is_no_longer_good_shows_in_ready() {
    let server = discord::DiscordServer::start().await;
    let mut home = new_home(&[]);
    home.set(format!("discord.api_url={}", server.url()));
    home.set_variable("DISCORD_TOKEN", discord::TOKEN);
    let program = home.start().await;
    server.until("it is there", |world| world.sessions.values().any(|session| session.line.is_some())).await;
    let mia = person(11, "mia");
    // One refusal is a mistake of the server: the person who asks is answered all the same.
    let once = discord::ScriptedFailure::Refused { status: 401, code: 0, message: "401: Unauthorized" };
    server.mishap(&format!("POST channels/{CHANNEL}/messages"), once);
    server.say(CHANNEL, &mia, &format!("<@{BOT}> are you there?"));
    server.until_posts(CHANNEL, 1).await;
    assert!(program.get("/ready").await.starts_with("HTTP/1.1 200"), "{}", program.said());
    server.world.with(|world| world.token = "another".to_owned());
    server.say(CHANNEL, &mia, &format!("<@{BOT}> and now?"));
    let told = eventually("it is not ready", async || {
        let told = program.get("/ready").await;
        told.starts_with("HTTP/1.1 503").then_some(told)
    })
    .await;
    assert!(told.contains("not ready: Discord rejected the bot's token"), "{told}");
}

/// On both there is one command with verbs; `/mute` alone is not ours there.
#[tokio::test]
async fn answers_name_orders_as_they_are_written_there() {
    let (discord, slack) = (discord::DiscordServer::start().await, slack::SlackServer::start().await);
    let mut home = new_home(CLOSED);
    home.set(format!("discord.api_url={}", discord.url()));
    home.set(format!("slack.api_url={}", slack.api_url()));
    home.set_variable("DISCORD_TOKEN", discord::TOKEN);
    home.set_variable("SLACK_BOT_TOKEN", BOT_TOKEN);
    home.set_variable("SLACK_APP_TOKEN", APP_TOKEN);
    let _program = home.start_telling("aizuchi joins Discord and Slack.").await;
    discord.until("it is there", |world| world.sessions.values().any(|session| session.line.is_some())).await;
    discord.dispatch(
        "INTERACTION_CREATE",
        json!({
            "id": "31", "application_id": BOT.to_string(), "type": 2, "token": "token", "locale": "en-US",
            "channel_id": CHANNEL.to_string(), "guild_id": GUILD.to_string(),
            "member": {"user": person(11, "mia"), "permissions": "0"},
            "data": {"name": "aizuchi", "options": [{"name": "mute", "type": 1}]},
        }),
    );
    discord.until("an answer", |world| world.asked.iter().any(|asked| asked.line.starts_with("PATCH webhooks"))).await;
    let told = &discord.asked("PATCH webhooks")[0].body["content"];
    assert_eq!(told, "I am muted until /aizuchi unmute.");
    eventually("a line is open", async || (slack.sockets.open() > 0).then_some(())).await;
    slack.order("C1GEN", "U1MIA", "mute 2h");
    let told = eventually("an answer", async || slack.workspace().answers.first().cloned()).await;
    assert_eq!(told["text"], "I am muted for 2 h. /aizuchi unmute ends it.");
}

/// Where there is no other place to be, being sent away is the end, and not a program that does nothing for ever.
#[tokio::test]
async fn sent_away_from_its_only_place_it_ends() {
    let server = slack::SlackServer::start().await;
    let mut home = new_home(CLOSED);
    home.set(format!("slack.api_url={}", server.api_url()));
    home.set_variable("SLACK_BOT_TOKEN", BOT_TOKEN);
    home.set_variable("SLACK_APP_TOKEN", APP_TOKEN);
    let mut program = home.start_telling("aizuchi joins Slack.").await;
    eventually("lines are open", async || (server.sockets.open() > 0).then_some(())).await;
    server.workspace().revoked = Some("token_revoked");
    server.sockets.cut();
    let status = program.ended().await;
    let said = program.said();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("the token was revoked") && said.contains("no platform is left to listen on"), "{said}");
}
