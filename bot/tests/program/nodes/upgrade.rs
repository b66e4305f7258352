//! Workers of a new build take over while people talk.

use crate::cluster::Cluster;
use crate::crowd::Draw;
use crate::moment::Moment;
use crate::postgres::{Crowd, seed};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_workers_take_over_and_the_old_ones_can_be_stopped() {
    let (cluster, seed) = (Cluster::start().await, seed());
    let (mut old, mut gateway) = (cluster.worker().await, cluster.gateway().await);
    let (mut crowd, mut draw) = (Crowd::gather(&cluster.home, seed), Draw(seed));
    let mut some_talk = async || {
        for _ in 0..3 {
            Moment::draw(&mut draw).come(&mut crowd.news).await;
        }
    };
    some_talk().await;
    let newest = async || {
        let told = cluster.home.command(&["cluster", "status"]).await;
        let newest = told.lines().find(|line| line.contains("gets what begins")).map(str::to_owned);
        newest.unwrap_or_else(|| panic!("none is the newest:\n{told}"))
    };
    let (old_url, new_url) = (cluster.home.worker_url(), cluster.other.worker_url());
    assert!(newest().await.contains(&old_url));
    let mut new = cluster.other.start_as(&["worker"], "registered the worker with Restate").await;
    assert!(newest().await.contains(&new_url));
    some_talk().await;
    // One that starts again goes on with what it has begun, and takes nothing back.
    old.kill();
    old = cluster.worker().await;
    assert!(newest().await.contains(&new_url), "{}", newest().await);
    some_talk().await;
    let told = cluster.other.command(&["cluster", "upgrade"]).await;
    let removed = told.lines().any(|line| line.contains(&old_url) && line.contains("is removed"));
    assert!(removed && told.contains("no other worker is known"), "{told}");
    old.terminate();
    assert!(old.ended().await.success(), "{}", old.said());
    some_talk().await;
    let again = cluster.other.command(&["cluster", "upgrade"]).await;
    assert!(again.contains("has the rooms already") && again.contains("no other worker is known"), "{again}");
    assert!(crowd.part(&cluster.home).await > 0, "somebody said something");
    let told = cluster.home.command(&["cluster", "rooms", "--stuck"]).await;
    assert!(told.contains("no room is stuck"), "{told}");
    for program in [&mut gateway, &mut new] {
        program.terminate();
        assert!(program.ended().await.success(), "{}", program.said());
    }
}

/// Going back to the build of before is the same command with its address.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upgrade_can_be_left_unfinished_and_undone() {
    let cluster = Cluster::start().await;
    let (_old, _gateway) = (cluster.worker().await, cluster.gateway().await);
    let told = cluster.other.command(&["cluster", "upgrade"]).await;
    assert!(told.contains("a worker of the new build must run there"), "{told}");
    let _new = cluster.other.start_as(&["worker"], "registered the worker with Restate").await;
    let told = cluster.home.command(&["cluster", "upgrade", "--no-wait"]).await;
    assert!(told.contains(&cluster.home.worker_url()) && told.contains("has the rooms from now on"), "{told}");
    let status = cluster.home.command(&["cluster", "status"]).await;
    assert!(status.contains("workers: 2"), "{status}");
    let told = cluster.home.command(&["cluster", "upgrade"]).await;
    let removed = told.lines().any(|line| line.contains(&cluster.other.worker_url()) && line.contains("is removed"));
    assert!(removed && told.contains("has the rooms already"), "{told}");
}
