//! A cluster from outside: workers, gateways, Restate and PostgreSQL killed with -9 while people talk. No message is lost, nothing is
//! said twice.

use aizuchi_test_servers::discord::{self, BOT, CHANNEL, person};
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion};
use aizuchi_test_servers::restate::RestateServer;

use crate::crash::SETTINGS;
use crate::crowd::Draw;
use crate::moment::Moment;
use crate::postgres::{Crowd, number, seed};
use crate::program::{Home, Program, eventually, new_home};

/// How often something is killed. `./dev soak` sets CLUSTER_KILLS to more.
const KILLS: u64 = 12;

pub struct Cluster {
    pub restate: RestateServer,
    pub postgres: PostgresServer,
    pub database: String,
    pub home: Home,
    pub other: Home,
}

impl Cluster {
    pub async fn start() -> Cluster {
        let options = PostgresOptions { version: PostgresVersion::Debian, durable: true, ..PostgresOptions::default() };
        let (restate, postgres) = (RestateServer::start().await, PostgresServer::start(options).await);
        let database = postgres.empty_database().await;
        let url = postgres.url(&database);
        let home = |listen: std::net::SocketAddr| {
            let mut home = new_home(SETTINGS);
            home.change("log.level", "info");
            home.set(format!("store.url={url}"));
            home.set(format!("cluster.ingress={}", restate.ingress()));
            home.set(format!("cluster.admin={}", restate.admin()));
            home.set(format!("cluster.listen={listen}"));
            home
        };
        let (first, second) = (new_home(&[]).address, new_home(&[]).address);
        let (home, other) = (home(first), home(second));
        Cluster { restate, postgres, database, home, other }
    }

    pub async fn worker(&self) -> Program {
        self.home.start_as(&["worker"], "registered the worker with Restate").await
    }

    pub async fn gateway(&self) -> Program {
        self.home.start_as(&["gateway"], &format!("is in the room: http://{}", self.home.address)).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_killed_nothing_is_lost_and_nothing_is_said_twice() {
    let (cluster, seed) = (Cluster::start().await, seed());
    let (mut worker, mut gateway) = (cluster.worker().await, cluster.gateway().await);
    let mut crowd = Crowd::gather(&cluster.home, seed);
    let mut draw = Draw(seed);
    for round in 0..number("CLUSTER_KILLS").unwrap_or(KILLS) {
        Moment::draw(&mut draw).come(&mut crowd.news).await;
        match (round + seed) % 4 {
            0 => {
                println!("the worker is killed");
                worker.kill();
                worker = cluster.worker().await;
            }
            1 => {
                println!("the gateway is killed");
                gateway.kill();
                gateway = cluster.gateway().await;
            }
            2 => {
                println!("Restate is killed");
                cluster.restate.kill();
                cluster.restate.start_again().await;
            }
            _ => {
                println!("PostgreSQL is killed");
                cluster.postgres.kill_9();
                cluster.postgres.start_again().await;
            }
        }
        assert!(worker.has_ended().is_none(), "the worker died of it:\n{}", worker.said());
        assert!(gateway.has_ended().is_none(), "the gateway died of it:\n{}", gateway.said());
    }
    assert!(crowd.part(&cluster.home).await > 0, "somebody said something");
    let told = cluster.home.command(&["cluster", "rooms", "--stuck"]).await;
    assert!(told.contains("no room is stuck"), "{told}");
    gateway.terminate();
    assert!(gateway.ended().await.success(), "{}", gateway.said());
    worker.terminate();
    assert!(worker.ended().await.success(), "{}", worker.said());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_says_how_it_is_and_keeps_a_single_program_out() {
    let cluster = Cluster::start().await;
    let (_worker, _gateway) = (cluster.worker().await, cluster.gateway().await);
    let (code, told) = cluster.other.refused().await;
    assert!(code != Some(0) && told.contains("another aizuchi is using the database"), "{told}");
    let status = eventually("one worker is known", async || {
        let told = cluster.home.command(&["cluster", "status"]).await;
        told.contains("workers: 1").then_some(told)
    })
    .await;
    assert!(status.contains("stuck: 0") && status.contains("inputs set aside: 0"), "{status}");
    assert!(status.matches("  answers").count() == 4 && status.contains("nodes that keep its metadata: 1"), "{status}");
    assert!(status.contains("gets what begins, 0 not over"), "{status}");
    let holds = |line: &str| line.starts_with("  leader: aizuchi session ");
    assert!(status.lines().any(holds), "{status}");
}

/// The second gateway has no connection until the first one is gone; what was said in between is heard.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_gateway_takes_over_discord_when_the_first_is_killed() {
    let (server, cluster) = on_discord().await;
    let _worker = cluster.worker().await;
    let (mut gateway, mut other) = two_gateways(&server, &cluster).await;
    let mia = person(11, "mia");
    gateway.kill();
    server.say(CHANNEL, &mia, &format!("<@{BOT}> and now?"));
    let posts = server.until_posts(CHANNEL, 2).await;
    assert_eq!(posts.len(), 2, "{posts:?}");
    assert!(other.said().contains("aizuchi discord"), "{}", other.said());
    other.terminate();
    assert!(other.ended().await.success(), "{}", other.said());
}

/// A process that is stopped keeps its connections, and its machine answers for it. When it goes on, it has lost what it held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_gateway_takes_over_discord_when_the_first_hangs() {
    let (server, cluster) = on_discord().await;
    let _worker = cluster.worker().await;
    let (gateway, other) = two_gateways(&server, &cluster).await;
    let mia = person(11, "mia");
    gateway.pause();
    server.say(CHANNEL, &mia, &format!("<@{BOT}> and now?"));
    server.until_posts(CHANNEL, 2).await;
    assert!(other.said().contains("aizuchi discord"), "{}", other.said());
    gateway.resume();
    eventually("the first one knows that it has lost it", async || {
        gateway.said().contains("cannot hold connections any more").then_some(())
    })
    .await;
    eventually("one of them is connected", async || (connections(&server) == 1).then_some(())).await;
    server.say(CHANNEL, &mia, &format!("<@{BOT}> and what do you both think?"));
    let posts = server.until_posts(CHANNEL, 3).await;
    assert_eq!(posts.len(), 3, "{posts:?}");
    for mut gateway in [gateway, other] {
        gateway.terminate();
        assert!(gateway.ended().await.success(), "{}", gateway.said());
    }
}

/// A cluster whose gateways may join Discord.
pub async fn on_discord() -> (discord::DiscordServer, Cluster) {
    let server = discord::DiscordServer::start().await;
    let mut cluster = Cluster::start().await;
    for home in [&mut cluster.home, &mut cluster.other] {
        // One post for each answer.
        home.change("reply.part_chars", 1500);
        home.set(format!("discord.api_url={}", server.url()));
        home.set_variable("DISCORD_TOKEN", discord::TOKEN);
    }
    (server, cluster)
}

pub fn connections(server: &discord::DiscordServer) -> usize {
    server.world.with(|world| world.sessions.values().filter(|it| it.line.is_some()).count())
}

/// The first has Discord and has answered once, the second waits.
async fn two_gateways(server: &discord::DiscordServer, cluster: &Cluster) -> (Program, Program) {
    let gateway = cluster.gateway().await;
    eventually("the first one is there", async || (connections(server) == 1).then_some(())).await;
    let room = format!("is in the room: http://{}", cluster.other.address);
    let other = cluster.other.start_as(&["gateway"], &room).await;
    server.say(CHANNEL, &person(11, "mia"), &format!("<@{BOT}> are you there?"));
    server.until_posts(CHANNEL, 1).await;
    assert!(connections(server) == 1 && !other.said().contains("aizuchi discord"), "{}", other.said());
    (gateway, other)
}
