//! What `doctor` finds out about the bot on Discord.

use std::process::Output;

use aizuchi::check::{Check, Level};
use aizuchi::platforms::discord::examine;
use aizuchi_test_servers::discord::{DiscordServer, TOKEN};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::NO_LOCAL_SERVER;
use serde_json::json;

use crate::house::settings;

async fn findings(server: &DiscordServer, token: &str) -> Vec<Check> {
    examine(&settings(server, &[]).0, &token.into()).await
}

fn advises(check: &Check, what: &str) -> bool {
    check.fix.as_ref().is_some_and(|fix| fix.contains(what))
}

#[tokio::test]
async fn it_names_what_is_missing_and_how_to_fix_it() {
    let server = DiscordServer::start().await;
    let fine = findings(&server, TOKEN).await;
    assert!(fine.len() == 3 && fine.iter().all(|check| check.level == Level::Ok), "{fine:?}");
    let refused = findings(&server, "another").await;
    let [wrong] = &refused[..] else { panic!("{refused:?}") };
    assert!(wrong.level == Level::Fail && advises(wrong, "DISCORD_TOKEN"), "{wrong:?}");
    server.world.with(|world| {
        world.message_content_granted = false;
        world.guild["roles"][0]["permissions"] = json!("2048");
    });
    let lacking = findings(&server, TOKEN).await;
    let [fine, intent, permissions] = &lacking[..] else { panic!("{lacking:?}") };
    assert_eq!([fine, intent, permissions].map(|check| check.level), [Level::Ok, Level::Fail, Level::Warn]);
    assert!(advises(intent, "Message Content Intent"), "{intent:?}");
    assert!(permissions.told.starts_with("in garden the bot lacks: View Channels, Send Messages in Threads"));
}

/// The program itself, in an empty environment but for the token.
async fn doctor(server: &DiscordServer, token: &str) -> Output {
    let scratch = Scratch::new("discord");
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    command.args(["doctor", "--set", "web.enabled=false", "--set"]).arg(format!("discord.api_url={}", server.url()));
    command
        .env_clear()
        .env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1)
        .env("DISCORD_TOKEN", token)
        .current_dir(&scratch.0)
        .output()
        .await
        .unwrap()
}

#[tokio::test]
async fn the_program_tells_it_and_never_shows_the_token() {
    let server = DiscordServer::start().await;
    let fine = doctor(&server, TOKEN).await;
    let out = String::from_utf8(fine.stdout).unwrap();
    assert!(fine.status.success() && out.contains("ok   discord   the token is valid: logged in as "), "{out}");
    assert!(
        out.contains("ok   discord   in garden the bot has all permissions it needs") && !out.contains(TOKEN),
        "{out}"
    );

    let refused = doctor(&server, "a.wrong.token").await;
    let (out, err) = (String::from_utf8(refused.stdout).unwrap(), String::from_utf8(refused.stderr).unwrap());
    assert_eq!(refused.status.code(), Some(1), "{out}");
    assert!(out.contains("fail discord   Discord rejected the bot's token"), "{out}");
    assert!(out.contains("(Bot, Reset Token) into DISCORD_TOKEN") && !(out + &err).contains("a.wrong.token"));

    server.world.with(|world| world.guild["roles"][0]["permissions"] = json!("2048"));
    let lacking = doctor(&server, TOKEN).await;
    let out = String::from_utf8(lacking.stdout).unwrap();
    assert!(lacking.status.success() && out.contains("warn discord   in garden the bot lacks: View Channels"), "{out}");
}
