//! What `aizuchi cluster status` says where a part of the cluster is gone.

use std::net::SocketAddr;

use aizuchi_test_servers::visitor::Visitor;
use serde_json::json;

use crate::cluster::Cluster;
use crate::cluster_rooms::get;
use crate::program::{Home, eventually, new_home};

async fn status(home: &Home) -> (Option<i32>, String) {
    let mut program = home.spawn_as(&["cluster", "status"]);
    (program.ended().await.code(), program.said())
}

/// The line about this address, without the address.
fn line_of<'a>(told: &'a str, address: &str) -> &'a str {
    let line = told.lines().find(|line| line.contains(address)).unwrap_or_else(|| panic!("no {address} in\n{told}"));
    line.split_once(address).expect("it is there").1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_knows_is_shown_when_the_other_does_not_answer() {
    let cluster = Cluster::start().await;
    let (_worker, _gateway) = (cluster.worker().await, cluster.gateway().await);
    let (code, told) = status(&cluster.home).await;
    assert!(code == Some(0) && told.contains("workers: 1"), "{told}");

    cluster.restate.kill();
    let (code, told) = status(&cluster.home).await;
    assert_eq!(code, Some(1), "{told}");
    for address in [cluster.restate.ingress(), cluster.restate.admin()] {
        assert!(line_of(&told, &address).starts_with("  does not answer: "), "{told}");
    }
    assert!(told.lines().any(|line| line.starts_with("  leader: aizuchi session ")), "{told}");
    assert!(told.contains("rooms: 0") && told.contains("stored and not told yet: 0"), "{told}");

    cluster.restate.start_again().await;
    eventually("all of it answers", async || (status(&cluster.home).await.0 == Some(0)).then_some(())).await;
    cluster.postgres.kill_9();
    let (code, told) = status(&cluster.home).await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("workers: 1") && told.contains("stuck: "), "{told}");
    let of_database = told.lines().find(|line| line.starts_with("PostgreSQL: "));
    assert!(of_database.is_some_and(|line| line.contains("  does not answer: ")), "{told}");
    assert!(told.contains("not all of it answers"), "{told}");
}

/// They were not shown at all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn partitions_are_shown_with_the_node_that_leads_them_and_its_lag() {
    let mut cluster = Cluster::start().await;
    let (_, told) = status(&cluster.home).await;
    assert!(told.contains("partitions: not shown (setting cluster.nodes)"), "{told}");
    cluster.home.set(format!("cluster.nodes={}", cluster.restate.node()));
    let _worker = cluster.worker().await;
    let told = eventually("all of them are led", async || {
        let (_, told) = status(&cluster.home).await;
        told.contains("partitions: 4, all of them led").then_some(told)
    })
    .await;
    let line = line_of(&told, &cluster.restate.node());
    assert!(line.starts_with("  leads 4, lag "), "{told}");
    cluster.restate.kill();
    let (code, told) = status(&cluster.home).await;
    assert!(code == Some(1) && told.contains("partitions: 0, 0 of them led by the nodes that answer"), "{told}");
    assert!(line_of(&told, &cluster.restate.node()).starts_with("  does not answer: "), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_does_not_answer_is_told_by_status_and_by_gateways() {
    let cluster = Cluster::start().await;
    let (mut worker, gateway) = (cluster.worker().await, cluster.gateway().await);
    let url = cluster.home.worker_url();
    let ready = async |expected: &str, address: SocketAddr| {
        eventually(&format!("/ready says {expected}"), async || {
            get(address, "/ready").await.starts_with(expected).then_some(())
        })
        .await;
    };
    let (code, told) = status(&cluster.other).await;
    assert!(code == Some(0) && line_of(&told, &url).starts_with("  answers, gets what begins"), "{told}");
    ready("200 ready\n", gateway.address).await;

    // Its machine answers for it.
    worker.pause();
    let (code, told) = status(&cluster.other).await;
    assert!(code == Some(1) && line_of(&told, &url).starts_with("  does not answer: "), "{told}");
    worker.resume();
    worker.kill();
    let (code, told) = status(&cluster.other).await;
    assert!(code == Some(1) && line_of(&told, &url).starts_with("  does not answer: "), "{told}");
    assert!(told.contains("gets what begins"), "{told}");
    ready(&format!("200 ready\nalert: 1 worker does not answer: {url}"), gateway.address).await;

    let _worker = cluster.worker().await;
    let (code, told) = status(&cluster.other).await;
    assert!(code == Some(0) && line_of(&told, &url).starts_with("  answers"), "{told}");
    eventually("it is over", async || (get(gateway.address, "/ready").await == "200 ready\n").then_some(())).await;
}

/// They waited for as long as the database hung, and `/ready` of a worker said that all was well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_is_told_by_every_command_and_by_workers() {
    let mut cluster = Cluster::start().await;
    let health = new_home(&[]).address;
    cluster.home.set(format!("cluster.health={health}"));
    let _worker = cluster.worker().await;
    assert_eq!(get(health, "/ready").await, "200 ready\n");
    cluster.postgres.pause();
    assert_eq!(get(health, "/ready").await, "503 not ready: the store does not answer\n");
    let commands: [&[&str]; 5] = [
        &["cluster", "rooms"],
        &["cluster", "rooms", "--stuck"],
        &["cluster", "leave"],
        &["rooms", "list"],
        &["doctor"],
    ];
    let mut running = commands.map(|command| cluster.other.spawn_as(command));
    for (program, command) in running.iter_mut().zip(commands) {
        let code = program.ended().await.code();
        let told = program.said();
        assert!(code == Some(1) && told.contains("does not answer within 15 s"), "{command:?}: {told}");
    }
    cluster.postgres.resume();
    eventually("it answers again", async || (get(health, "/ready").await == "200 ready\n").then_some(())).await;
}

/// It was said that the store cannot be written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_names_restate_when_that_hangs() {
    let cluster = Cluster::start().await;
    let (_worker, gateway) = (cluster.worker().await, cluster.gateway().await);
    let mut mia = Visitor::enter(gateway.address, "lobby", "mia").await;
    cluster.restate.pause();
    mia.send(json!({"do": "say", "key": "1", "text": "good morning"})).await;
    eventually("it says who does not answer", async || {
        get(gateway.address, "/ready").await.starts_with("503 not ready: Restate does not answer").then_some(())
    })
    .await;
    cluster.restate.resume();
    eventually("it is ready again", async || get(gateway.address, "/ready").await.starts_with("200").then_some(()))
        .await;
}

/// The error was that of the database about a table.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_no_cluster_has_used_is_told() {
    let cluster = Cluster::start().await;
    for command in [&["cluster", "rooms"][..], &["cluster", "rooms", "--stuck"], &["cluster", "status"]] {
        let mut program = cluster.home.spawn_as(command);
        let code = program.ended().await.code();
        let told = program.said();
        assert!(code == Some(1) && told.contains("no cluster has used"), "{command:?}: {told}");
        assert!(!told.contains("relation"), "{told}");
    }
}

/// Restate repeats the address in what it says of a worker that does not answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_password_in_the_address_of_a_worker_is_not_shown() {
    let mut cluster = Cluster::start().await;
    // Nobody is there.
    cluster.home.set(format!("cluster.worker_url=http://mia:hunter2@{}", new_home(&[]).address));
    let worker = cluster.home.start_as(&["worker"], "cannot register the worker with Restate").await;
    let told = cluster.home.command(&["cluster", "upgrade", "--no-wait"]).await;
    for told in [worker.said(), told] {
        assert!(told.contains("cannot") && !told.contains("hunter2"), "{told}");
    }
}
