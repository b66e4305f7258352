//! Tokens and permissions that do not work: said in words, and the program goes on.

use std::process::Output;

use aizuchi::check::Level;
use aizuchi::platforms::slack::Slack;
use aizuchi::platforms::slack::examine::examine;
use aizuchi::ports::{Platform as _, PostError};
use aizuchi::runtime::{Clock, EngineHandle};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::{NO_LOCAL_SERVER, PATIENCE};
use aizuchi_test_servers::slack::{APP_TOKEN, BOT_TOKEN, Fault, SlackServer};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::office::{Echo, Engine, Office, PACE, database, room, settings, until};

#[tokio::test]
async fn a_wrong_token_is_refused_at_the_start_with_what_to_do() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-wrong-token"));
    let (own, policies) = settings(&server, &[]);
    let (engine, stores) = (&policies.general().settings, database(&scratch).platform_stores());
    let slack = Slack::at_pace(own, engine, "xoxb-wrong".into(), APP_TOKEN.into(), stores, Clock::Wall, PACE);
    let (shard, _hears) = mpsc::channel(1);
    let commands = std::sync::Arc::new(Echo::default());
    let refused = slack
        .unwrap()
        .listen(EngineHandle::new(vec![shard], mpsc::unbounded_channel().0), commands, CancellationToken::new())
        .await
        .err()
        .unwrap();
    let refused = refused.to_string();
    assert!(refused.contains("invalid_auth") && refused.contains("api.slack.com/apps"), "{refused}");
    assert!(!refused.contains("wrong"), "the token itself is not told: {refused}");
}

#[tokio::test]
async fn a_revoked_token_ends_the_platform_and_nothing_else() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-revoked"));
    let office = Office::open(&server, &scratch).await;
    server.workspace().revoked = Some("token_revoked");
    server.sockets.cut();
    let program = office.stop.clone();
    timeout(PATIENCE, office.done).await.expect("the platform stops").unwrap();
    assert!(!program.is_cancelled());
    // It does not knock on and on.
    assert!(server.workspace().calls_of("apps.connections.open") <= 6);
}

/// Slack says so once, and takes it back with the next call.
#[tokio::test]
async fn one_refusal_of_a_good_token_is_not_the_end() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-one-refusal"));
    server.workspace().fail("auth.test", [Fault::Error("account_inactive")]);
    server.workspace().fail("apps.connections.open", [Fault::Error("invalid_auth")]);
    let office = Office::open(&server, &scratch).await;
    server.workspace().fail("apps.connections.open", [Fault::Error("token_revoked")]);
    server.sockets.cut();
    until("the lines are open again", || server.sockets.open() == 2).await;
    server.workspace().fail("chat.postMessage", [Fault::Error("invalid_auth")]);
    let (first, second) =
        (office.post("k/0", &room("C1GEN"), "yes").await, office.post("k/0", &room("C1GEN"), "yes").await);
    assert!(matches!(first, Err(PostError::TryLater { .. })) && second.is_ok(), "{first:?}, {second:?}");
    assert_eq!(server.workspace().posted("C1GEN").len(), 1);
    office.close().await;
}

/// Nothing can be posted with it any more: the listener stops too, and says why.
#[tokio::test]
async fn a_token_that_is_refused_when_posting_ends_the_platform() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-refused-post"));
    let office = Office::open(&server, &scratch).await;
    server.workspace().revoked = Some("token_revoked");
    let refused = office.post("k/0", &room("C1GEN"), "yes").await;
    assert!(matches!(&refused, Err(PostError::GiveUp { what }) if what.contains("revoked")), "{refused:?}");
    timeout(PATIENCE, office.done).await.expect("the platform stops").unwrap();
    let why = office.slack.stopped();
    assert!(why.as_ref().is_some_and(|why| why.contains("the token was revoked")), "{why:?}");
}

#[tokio::test]
async fn an_app_without_socket_mode_is_told_so() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-link-disabled"));
    let office = Office::open_with(&server, &scratch, Engine::Listens, &[]).await;
    server.sockets.warn("link_disabled").close();
    timeout(PATIENCE, office.done).await.expect("the platform stops").unwrap();
}

#[tokio::test]
async fn the_doctor_names_what_is_missing() {
    let server = SlackServer::start().await;
    let slack = &settings(&server, &[]).0;
    let all = examine(slack, BOT_TOKEN.into(), APP_TOKEN.into()).await;
    assert!(all.iter().all(|check| check.level == Level::Ok) && all.len() == 3, "{all:?}");
    server.workspace().scopes.remove("groups:history");
    let lacking = examine(slack, BOT_TOKEN.into(), APP_TOKEN.into()).await;
    let failed: Vec<_> = lacking.iter().filter(|check| check.level == Level::Fail).collect();
    assert!(failed.len() == 1 && failed[0].told.contains("groups:history"), "{lacking:?}");
    // The two tokens, confused.
    let confused = examine(slack, APP_TOKEN.into(), BOT_TOKEN.into()).await;
    let levels: Vec<Level> = confused.iter().map(|check| check.level).collect();
    assert_eq!(levels, [Level::Warn, Level::Warn, Level::Fail, Level::Fail], "{confused:?}");
}

/// The program itself, in an empty environment but for the tokens.
async fn doctor(server: &SlackServer, bot_token: &str) -> Output {
    let scratch = Scratch::new("slack-doctor");
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    command.args(["doctor", "--set", "web.enabled=false", "--set"]).arg(format!("slack.api_url={}", server.api_url()));
    command
        .env_clear()
        .env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1)
        .env("SLACK_BOT_TOKEN", bot_token)
        .env("SLACK_APP_TOKEN", APP_TOKEN);
    command.current_dir(std::env::temp_dir()).arg("--set").arg(format!("store.folder={}", scratch.0.display()));
    command.output().await.unwrap()
}

#[tokio::test]
async fn the_program_tells_it_and_never_shows_a_token() {
    let server = SlackServer::start().await;
    let fine = doctor(&server, BOT_TOKEN).await;
    let out = String::from_utf8(fine.stdout).unwrap();
    assert!(fine.status.success() && out.matches("ok   slack     ").count() == 3, "{out}");
    assert!(!out.contains(BOT_TOKEN) && !out.contains(APP_TOKEN), "{out}");

    let refused = doctor(&server, "xoxb-wrong-one").await;
    let (out, err) = (String::from_utf8(refused.stdout).unwrap(), String::from_utf8(refused.stderr).unwrap());
    assert_eq!(refused.status.code(), Some(1), "{out}");
    assert!(out.contains("fail slack     the bot's token: ") && out.contains("into SLACK_BOT_TOKEN"), "{out}");
    assert!(out.contains("ok   slack     Socket Mode works") && !(out + &err).contains("wrong-one"));

    server.workspace().scopes.remove("reactions:write");
    let lacking = String::from_utf8(doctor(&server, BOT_TOKEN).await.stdout).unwrap();
    assert!(lacking.contains("fail slack     lacks reactions:write (reacts) — add it at "), "{lacking}");
}
