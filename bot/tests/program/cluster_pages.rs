//! Two gateways of a cluster: whatever is done at one of them holds at the other, and its pages see it.

use std::net::SocketAddr;

use aizuchi_test_servers::visitor::{Visitor, connect};
use reqwest::redirect::Policy;
use serde_json::{Value, json};

use crate::cluster_rooms::ClusterServers;
use crate::program::{Home, Program, eventually};

struct TwoGateways {
    servers: ClusterServers,
    database: String,
    homes: [Home; 2],
    _worker: Program,
}

impl TwoGateways {
    async fn prepare(settings: &[&str]) -> TwoGateways {
        let servers = ClusterServers::start().await;
        let database = servers.postgres.empty_database().await;
        let url = servers.postgres.url(&database);
        let worker = servers.home_on(&url, settings);
        let worker = worker.start_as(&["worker"], "registered the worker with Restate").await;
        let homes = [(); 2].map(|()| servers.home_on(&url, settings));
        TwoGateways { servers, database, homes, _worker: worker }
    }

    async fn start(&self, index: usize) -> Program {
        let home = &self.homes[index];
        home.start_as(&["gateway"], &format!("is in the room: http://{}", home.address)).await
    }

    /// The rooms that have settings of their own, by the settings that hold.
    async fn rooms_with_settings(&self) -> Vec<String> {
        let query = "select body from cluster_policies join cluster_settings on policies = id";
        let held = self.servers.postgres.psql(&self.database, query).await;
        let held: Value = serde_json::from_str(&held).expect("settings can be read");
        held["channels"].as_object().expect("rooms by name").keys().cloned().collect()
    }
}

/// Enters a room again and again until its page shows this preset.
async fn shows_preset(address: SocketAddr, room: &str, preset: &str) {
    let (mut page, mut person) = (connect(address, &[]).await.expect("it is open"), Value::Null);
    eventually(&format!("{room} has the preset {preset}"), async || {
        page.send(json!({"do": "enter", "room": room, "name": "jonas", "person": person})).await;
        let hello = page.next("hello").await;
        person = hello["person"].clone();
        (hello["bot"]["preset"] == preset).then_some(())
    })
    .await;
}

/// A choice at one gateway undid that at the other, and a start undid both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_preset_holds_at_every_gateway_and_after_a_start() {
    let cluster = TwoGateways::prepare(&[]).await;
    let (first, mut second) = (cluster.start(0).await, cluster.start(1).await);
    let choices = [(first.address, "lobby", "sphene"), (second.address, "garden", "myao2")];
    for (address, room, preset) in choices {
        let mut mia = Visitor::enter(address, room, "mia").await;
        let told = mia.order(&format!("/preset {preset}")).await;
        assert!(told.contains(preset), "{told}");
    }
    for address in [first.address, second.address] {
        for (_, room, preset) in choices {
            shows_preset(address, room, preset).await;
        }
    }
    assert_eq!(cluster.rooms_with_settings().await, ["web:garden", "web:lobby"]);
    second.terminate();
    assert!(second.ended().await.success(), "{}", second.said());
    let second = cluster.start(1).await;
    for (_, room, preset) in choices {
        shows_preset(second.address, room, preset).await;
    }
    assert_eq!(cluster.rooms_with_settings().await, ["web:garden", "web:lobby"]);
}

/// What lets a browser in that has shown the token to this gateway.
async fn cookie(address: SocketAddr) -> String {
    let http = aizuchi::tls::client_builder().redirect(Policy::none()).build().expect("there is a client");
    let welcome = http.get(format!("http://{address}/?token=secret")).send().await.expect("it answers");
    let set = welcome.headers().get("set-cookie").expect("a session begins").to_str().expect("it is text");
    set.split(';').next().expect("it has a value").to_owned()
}

async fn enter(address: SocketAddr, cookie: &str, room: &str, name: &str) -> Visitor {
    let mut page = connect(address, &[("Cookie", cookie)]).await.expect("the session is known");
    page.send(json!({"do": "enter", "room": room, "name": name})).await;
    page.until("caught_up").await;
    page
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_both_gateways_see_the_same() {
    let cluster = TwoGateways::prepare(&["web.token=secret"]).await;
    let (first, second) = (cluster.start(0).await, cluster.start(1).await);
    let cookie = cookie(first.address).await;
    let mut finn = enter(second.address, &cookie, "lobby", "finn").await;
    let mut mia = enter(first.address, &cookie, "garden", "mia").await;
    let rooms = finn.next("rooms").await;
    assert!(rooms["rooms"].to_string().contains("garden"), "{rooms}");
    let mut finn = enter(second.address, &cookie, "garden", "finn").await;
    mia.send(json!({"do": "typing"})).await;
    assert_eq!(finn.next("typing").await["name"], "mia");
    finn.say("1", "@aizuchi are you there?").await;
    for page in [&mut mia, &mut finn] {
        assert_eq!(page.next("typing").await["name"], "aizuchi", "a worker writes");
    }
    mia.send(json!({"do": "close", "key": "2", "room": "garden"})).await;
    let closed = finn.next("closed").await;
    assert_eq!(closed["room"], "garden");
    let rooms = finn.next("rooms").await;
    assert!(!rooms["rooms"].to_string().contains("garden"), "{rooms}");
}
