//! Discord's connections, shared by the gateways of a cluster.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use aizuchi_test_servers::discord::{self, BOT, CHANNEL, DiscordServer, Order, person};
use serde_json::json;

use crate::cluster_rooms::ClusterServers;
use crate::program::{Home, Program, eventually};

/// The direct messages of Mia: they are on the first connection, the guild is on the second.
const DIRECT: u64 = 902;
/// Within which another gateway has the connections of one that was killed.
const SECONDS_MAX: Duration = Duration::from_secs(10);

fn on_discord(mut home: Home, server: &DiscordServer) -> Home {
    home.set(format!("discord.api_url={}", server.url()));
    home.set_variable("DISCORD_TOKEN", discord::TOKEN);
    home
}

async fn gateway(home: &Home) -> Program {
    home.start_as(&["gateway"], &format!("is in the room: http://{}", home.address)).await
}

/// The open connections; each may be open once.
fn open(server: &DiscordServer) -> BTreeSet<u64> {
    server.world.with(|world| {
        let open = world.sessions.values().filter(|session| session.line.is_some());
        let shards: Vec<u64> = open.map(|session| session.shard.0).collect();
        let all: BTreeSet<u64> = shards.iter().copied().collect();
        assert_eq!(all.len(), shards.len(), "no connection is open twice: {shards:?}");
        all
    })
}

async fn all_are_open(server: &DiscordServer) {
    eventually("all connections are open", async || (open(server) == BTreeSet::from([0, 1, 2])).then_some(())).await;
}

fn holds(program: &Program, shard: u32) -> bool {
    program.said().contains(&format!("aizuchi discord {shard}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gateways_share_the_connections_and_take_over_those_of_a_dead_one() {
    let (server, mia) = (DiscordServer::start().await, person(11, "mia"));
    server.world.with(|world| {
        world.shards = 3;
        world.channels.insert(DIRECT, json!({"id": DIRECT.to_string(), "type": 1, "recipients": [mia]}));
    });
    let servers = ClusterServers::start().await;
    let url = servers.postgres.url(&servers.postgres.empty_database().await);
    let home = || on_discord(servers.home_on(&url, &["reply.part_chars=1500", "listen.direct_messages=true"]), &server);
    let homes = [home(), home(), home()];
    let _worker = homes[0].start_as(&["worker"], "registered the worker with Restate").await;
    let mut first = gateway(&homes[1]).await;
    all_are_open(&server).await;
    assert!((0..3).all(|shard| holds(&first, shard)), "alone it has all of them: {}", first.said());
    let mut second = gateway(&homes[2]).await;
    eventually("the second has its part", async || holds(&second, 2).then_some(())).await;
    all_are_open(&server).await;
    assert!(!holds(&second, 0) && !holds(&second, 1), "{}", second.said());
    assert_eq!(server.world.with(|world| world.identified), 4, "three sessions, and one that moved");

    server.say(CHANNEL, &mia, &format!("<@{BOT}> are you there?"));
    server.say(DIRECT, &mia, &format!("<@{BOT}> and here?"));
    server.until_posts(CHANNEL, 1).await;
    server.until_posts(DIRECT, 1).await;
    first.kill();
    let killed = Instant::now();
    server.say(CHANNEL, &mia, &format!("<@{BOT}> who hears me now?"));
    server.say(DIRECT, &mia, &format!("<@{BOT}> still there?"));
    // Until then the server may not have noticed that the first is gone.
    let has_all = async || (holds(&second, 0) && holds(&second, 1)).then_some(());
    eventually("the second has all", has_all).await;
    all_are_open(&server).await;
    let took = killed.elapsed();
    assert!(took < SECONDS_MAX, "it took {took:?}");
    println!("the connections of a killed gateway were open again after {took:?}");
    server.until_posts(CHANNEL, 2).await;
    server.until_posts(DIRECT, 2).await;
    server.say(CHANNEL, &mia, &format!("<@{BOT}> and that was all"));
    assert_eq!(server.until_posts(CHANNEL, 3).await.len(), 3, "each is answered once");
    assert_eq!(server.until_posts(DIRECT, 2).await.len(), 2);
    second.terminate();
    assert!(second.ended().await.success(), "{}", second.said());
}

/// Such as for a token that was replaced: it kept its connections, and nobody was heard there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_that_discord_dismisses_leaves_its_connections_to_another() {
    let server = DiscordServer::start().await;
    let servers = ClusterServers::start().await;
    let url = servers.postgres.url(&servers.postgres.empty_database().await);
    let homes = [(); 3].map(|()| on_discord(servers.home_on(&url, &["reply.part_chars=1500"]), &server));
    let _worker = homes[0].start_as(&["worker"], "registered the worker with Restate").await;
    let first = gateway(&homes[1]).await;
    eventually("it is connected", async || (open(&server) == BTreeSet::from([0])).then_some(())).await;
    let second = gateway(&homes[2]).await;
    assert!(holds(&first, 0) && !holds(&second, 0));
    server.world.with(|world| world.order(|| Order::Close(4004)));
    eventually("the second takes it", async || holds(&second, 0).then_some(())).await;
    eventually("it is connected", async || (open(&server) == BTreeSet::from([0])).then_some(())).await;
    server.say(CHANNEL, &person(11, "mia"), &format!("<@{BOT}> are you there?"));
    server.until_posts(CHANNEL, 1).await;
}
