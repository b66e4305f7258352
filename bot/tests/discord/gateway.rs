//! How it comes to the gateway: under which name, to which address, and how often after a cut.

use aizuchi_test_servers::discord::{CHANNEL, DiscordServer, Order, person};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::logs::Logs;
use serde_json::json;

use crate::house::DiscordFixture;

#[tokio::test]
async fn it_says_who_it_is_on_the_gateway_too() {
    let (house, _scratch) = DiscordFixture::open().await;
    let visitors = house.server.world.with(|world| world.visitors.clone());
    assert!(visitors.iter().all(|(_, agent)| agent.starts_with("DiscordBot (http")), "{visitors:?}");
    house.close().await;
}

/// The hosts of all connections, after a cut and a resume.
async fn resumes(gateway_url: impl Fn(&DiscordServer) -> String) -> Vec<String> {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let (port, url) = (server.port, gateway_url(&server));
    server.world.with(|world| world.resume_host = "localhost".to_owned());
    let house = DiscordFixture::open_in(&scratch.0, server, &[&format!("discord.gateway_url={url}")]).await;
    house.connected().await;
    house.server.world.with(|world| world.order(|| Order::Cut));
    house.server.until("it resumed", |world| world.resumed == 1).await;
    house.server.say(CHANNEL, &person(11, "mia"), "heard?");
    house.says(1).await;
    let server = house.close().await;
    let visitors = server.world.with(|world| world.visitors.clone());
    visitors.into_iter().map(|(host, _)| host.replace(&format!(":{port}"), "")).collect()
}

#[tokio::test]
async fn an_address_set_by_hand_holds_on_resume() {
    assert_eq!(resumes(|server| format!("ws://127.0.0.1:{}/", server.port)).await, ["127.0.0.1", "127.0.0.1"]);
    assert_eq!(resumes(|_| String::new()).await, ["127.0.0.1", "localhost"], "otherwise Discord says where");
}

/// The gateway is out of order for a while: the first tries are quick, and no two pauses are alike.
#[tokio::test]
async fn after_an_outage_it_comes_back_soon() {
    let (house, _scratch) = DiscordFixture::open().await;
    let logs = Logs::collect();
    house.server.world.with(|world| {
        world.turned_away = 4;
        world.order(|| Order::Cut);
    });
    house.server.until("it resumed", |world| world.resumed == 1).await;
    let pauses: Vec<u64> = logs.with("pause_ms=").iter().map(|line| pause_in(line)).collect();
    assert_eq!(pauses.len(), 5, "after the cut and after each refusal: {pauses:?}");
    assert!(pauses.iter().take(3).all(|pause| *pause <= 1000), "{pauses:?}");
    let doubled = |pair: &[u64]| pair[0] * 2 == pair[1];
    assert!(!pauses.windows(2).all(doubled), "they are drawn by chance: {pauses:?}");
    house.server.say(CHANNEL, &person(11, "mia"), "heard?");
    house.says(1).await;
    house.close().await;
}

fn pause_in(line: &str) -> u64 {
    line.split("pause_ms=")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|told| told.parse().ok())
        .expect(line)
}

#[tokio::test]
async fn why_discord_hung_up_is_logged_in_its_words() {
    let (house, _scratch) = DiscordFixture::open().await;
    let logs = Logs::collect();
    house.server.world.with(|world| world.order(|| Order::CloseSaying(4000, "Rolling restart\nsoon")));
    house.server.until("it resumed", |world| world.resumed == 1).await;
    let told = logs.until("4000").await;
    assert!(told.contains("INFO") && told.contains("Rolling restart\\nsoon"), "{told}");
    house.close().await;
    // Sent away for good, too.
    let (house, _scratch) = DiscordFixture::open().await;
    house.server.world.with(|world| world.order(|| Order::CloseSaying(4013, "Invalid intent(s).")));
    let why = house.sent_away().await;
    assert!(why.contains("intent") && why.contains("Invalid intent(s)."), "{why}");
}

/// A server that does not answer to heartbeats is as good as gone.
#[tokio::test]
async fn a_line_without_answers_to_its_heartbeats_is_left() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    server.world.with(|world| {
        world.heartbeat_ms = 300;
        world.answers_heartbeats = false;
    });
    let house = DiscordFixture::open_in(&scratch.0, server, &[]).await;
    house.server.until("it came back", |world| world.resumed > 0).await;
    house.server.world.with(|world| world.answers_heartbeats = true);
    house.server.say(CHANNEL, &person(11, "mia"), "heard?");
    house.says(1).await;
    house.close().await;
}

/// Discord asks for a heartbeat of its own accord.
#[tokio::test]
async fn a_heartbeat_that_is_asked_for_is_given() {
    let (house, _scratch) = DiscordFixture::open().await;
    house.server.world.with(|world| world.order(|| Order::Send(json!({"op": 1, "d": null}))));
    house.server.until("its heart beats", |world| world.heartbeats > 0).await;
    house.close().await;
}
