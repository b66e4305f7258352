//! Rooms of a cluster from outside: worker and gateway in one process, and a room that cannot go on.

use std::net::SocketAddr;
use std::sync::Arc;

use aizuchi_test_servers::postgres::{PostgresServer, PostgresVersion, shared};
use aizuchi_test_servers::restate::RestateServer;
use aizuchi_test_servers::visitor::{Visitor, texts};
use serde_json::{Value, json};

use crate::program::{Home, Program, eventually, new_home};

/// What the processes of a cluster share.
pub struct ClusterServers {
    pub restate: RestateServer,
    pub postgres: Arc<PostgresServer>,
}

impl ClusterServers {
    pub async fn start() -> ClusterServers {
        ClusterServers { restate: RestateServer::start().await, postgres: shared(PostgresVersion::Debian).await }
    }

    /// A process of the cluster on a new database.
    async fn home(&self, settings: &[&str]) -> Home {
        self.home_on(&self.postgres.url(&self.postgres.empty_database().await), settings)
    }

    pub fn home_on(&self, database: &str, settings: &[&str]) -> Home {
        let mut home = new_home(settings);
        home.set("log.level=info");
        home.set(format!("store.url={database}"));
        home.set(format!("cluster.ingress={}", self.restate.ingress()));
        home.set(format!("cluster.admin={}", self.restate.admin()));
        home.set(format!("cluster.listen={}", new_home(&[]).address));
        home
    }
}

pub async fn both(home: &Home) -> Program {
    let program = home.start_with(&["--cluster"]).await;
    eventually("Restate knows it", async || {
        program.said().contains("registered the worker with Restate").then_some(())
    })
    .await;
    program
}

/// Says something and waits until it is accepted; returns its id.
pub async fn say(visitor: &mut Visitor, key: &str, text: &str) -> String {
    visitor.send(json!({"do": "say", "key": key, "text": text})).await;
    loop {
        let taken = visitor.next("taken").await;
        if taken["key"] == key {
            return taken["id"].as_str().unwrap_or_default().to_owned();
        }
    }
}

/// The next message of the bot.
pub async fn answer(visitor: &mut Visitor) -> String {
    loop {
        let said = visitor.next("said").await;
        if said["message"]["voice"] == "Me" {
            return said["message"]["text"].as_str().unwrap_or_default().to_owned();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worker_and_gateway_in_one_process_go_on_after_a_kill() {
    let servers = ClusterServers::start().await;
    let home = servers.home(&["reply.part_chars=1500"]).await;
    let mut program = both(&home).await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    say(&mut mia, "1", "@aizuchi are you there?").await;
    assert!(!answer(&mut mia).await.is_empty());
    assert!(mia.order("/mute").await.contains("muted"));
    program.kill();

    // A mute is the state of the room, and what was said is in the database.
    let mut program = both(&home).await;
    let (mut mia, told) = Visitor::come_back(program.address, "lobby", "mia", Some(&mia.person), 0).await;
    let before = texts(&told);
    assert!(before.len() == 2 && before[0].contains("are you there"), "{before:?}");
    let status = mia.order("/status").await;
    assert!(status.contains("muted"), "{status}");
    say(&mut mia, "2", "@aizuchi can you hear me?").await;
    mia.order("/unmute").await;
    say(&mut mia, "3", "@aizuchi and now?").await;
    assert!(!answer(&mut mia).await.is_empty());
    let (_, told) = Visitor::come_back(program.address, "lobby", "mia", Some(&mia.person), 0).await;
    assert_eq!(texts(&told).len(), 5, "nothing was said while it was muted: {told:?}");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

pub fn http() -> reqwest::Client {
    aizuchi::tls::client_builder().build().expect("there is a client")
}

pub async fn get(address: SocketAddr, path: &str) -> String {
    let answer = http().get(format!("http://{address}{path}")).send().await.expect("it answers");
    format!("{} {}", answer.status().as_u16(), answer.text().await.expect("it answers"))
}

/// Puts bytes where Restate keeps the state of a room.
pub async fn set_state(servers: &ClusterServers, room: &str, state: &[u8]) {
    let url = format!("{}/services/Room/state", servers.restate.admin());
    let change = json!({"object_key": room, "new_state": {"room": state}});
    let changed = http().post(url).json(&change).send().await.expect("Restate answers");
    assert!(changed.status().is_success(), "{changed:?}");
}

/// The state of a room; empty if there is none.
pub async fn state_of(servers: &ClusterServers, room: &str) -> Vec<u8> {
    let url = format!("{}/restate/call/Room/{}/look", servers.restate.ingress(), room.replace(':', "%3A"));
    let looked = http().post(url).send().await.expect("Restate answers");
    looked.bytes().await.expect("a room can be looked at").to_vec()
}

/// Gives up what keeps failing, also what is trying again at the moment.
async fn end_stuck(servers: &ClusterServers) {
    let (http, admin) = (http(), servers.restate.admin());
    let query = json!({"query": "SELECT id FROM sys_invocation WHERE retry_count > 1 AND status <> 'completed'"});
    eventually("nothing keeps failing", async || {
        let asked = http.post(format!("{admin}/query")).header("accept", "application/json").json(&query);
        let found: Value = asked.send().await.expect("Restate answers").json().await.expect("it is JSON");
        let rows = found["rows"].as_array().expect("it has rows");
        for row in rows {
            let url = format!("{admin}/invocations/{}/kill", row["id"].as_str().expect("it has an id"));
            // It may have ended meanwhile.
            http.patch(url).send().await.expect("Restate answers");
        }
        rows.is_empty().then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_cannot_go_on_raises_an_alert_until_it_can() {
    let servers = ClusterServers::start().await;
    let mut home = servers.home(&["reply.part_chars=1500"]).await;
    let health = new_home(&[]).address;
    home.set(format!("cluster.health={health}"));
    let _worker = home.start_as(&["worker"], "registered the worker with Restate").await;
    home.change("cluster.health", "");
    let gateway = home.start_as(&["gateway"], &format!("is in the room: http://{}", home.address)).await;
    let mut mia = Visitor::enter(gateway.address, "lobby", "mia").await;
    say(&mut mia, "1", "@aizuchi are you there?").await;
    answer(&mut mia).await;
    for address in [health, gateway.address] {
        assert_eq!(get(address, "/ready").await, "200 ready\n");
        assert!(get(address, "/live").await.starts_with("200"));
    }
    let whole = eventually("the room is at rest", async || {
        let state = state_of(&servers, "web:lobby").await;
        (!state.is_empty()).then_some(state)
    })
    .await;
    // As a program of a later version would leave it.
    set_state(&servers, "web:lobby", &[&[99], &whole[1..]].concat()).await;
    say(&mut mia, "2", "@aizuchi can you hear me?").await;
    for address in [health, gateway.address] {
        eventually("it raises an alert", async || {
            let told = get(address, "/ready").await;
            told.contains("alert: 1 room or call keeps failing").then_some(())
        })
        .await;
        eventually("it is counted", async || {
            get(address, "/metrics").await.contains("\naizuchi_cluster_stuck 1\n").then_some(())
        })
        .await;
    }
    let told = home.command(&["cluster", "rooms", "--stuck"]).await;
    assert!(told.contains("web:lobby") && told.contains("version 99"), "{told}");
    // Other rooms go on meanwhile.
    let mut finn = Visitor::enter(gateway.address, "garden", "finn").await;
    say(&mut finn, "1", "@aizuchi are you there?").await;
    answer(&mut finn).await;
    // Its state is replaced as soon as nothing runs in it; then it goes on.
    set_state(&servers, "web:lobby", &whole).await;
    end_stuck(&servers).await;
    say(&mut mia, "3", "@aizuchi and now?").await;
    answer(&mut mia).await;
    for address in [health, gateway.address] {
        eventually("it is over", async || (get(address, "/ready").await == "200 ready\n").then_some(())).await;
    }
}

/// Whether the metrics have this line.
async fn counts(address: SocketAddr, line: &str) {
    eventually(line, async || get(address, "/metrics").await.contains(&format!("\n{line}\n")).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_set_aside_and_a_restate_that_is_away_are_counted_and_told() {
    let servers = ClusterServers::start().await;
    let home = servers.home(&[]).await;
    let program = both(&home).await;
    counts(program.address, "aizuchi_cluster_set_aside 0").await;
    let url = format!("{}/restate/call/Room/web%3Alobby/handle", servers.restate.ingress());
    let request = http().post(url).header("content-type", "application/octet-stream");
    let answer = request.body(r#"[{"at": 1, "input": "Sung"}]"#).send().await.expect("Restate answers");
    assert!(answer.status().is_success(), "{answer:?}");
    counts(program.address, "aizuchi_cluster_set_aside 1").await;
    eventually("it raises an alert", async || {
        let ready = get(program.address, "/ready").await;
        ready.starts_with("200 ready\nalert: 1 input was set aside in the last hour").then_some(())
    })
    .await;
    let told = home.command(&["cluster", "rooms", "--stuck"]).await;
    assert!(told.contains("web:lobby  set aside at ") && told.contains("Sung"), "{told}");
    counts(program.address, "aizuchi_cluster_restate_silent 0").await;
    servers.restate.kill();
    counts(program.address, "aizuchi_cluster_restate_silent 1").await;
    servers.restate.start_again().await;
    counts(program.address, "aizuchi_cluster_restate_silent 0").await;
}
