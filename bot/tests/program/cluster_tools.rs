//! A worker of a cluster killed while a tool runs: it is not run again, and people get their answer.

use aizuchi_test_servers::models::ModelServer;
use aizuchi_test_servers::visitor::Visitor;

use crate::cluster::Cluster;
use crate::cluster_rooms::{answer, say};
use crate::program::eventually;
use crate::tools::{answers, count_for, counted, give_tool, has_tool};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_whose_worker_is_killed_is_not_run_again_and_is_answered() {
    // Longer than it takes to kill a worker.
    let model = ModelServer::answering(|request| count_for(request, 3_000)).await;
    let mut cluster = Cluster::start().await;
    give_tool(&mut cluster.home, &model);
    let (mut worker, _gateway) = (cluster.worker().await, cluster.gateway().await);
    has_tool(&worker).await;
    let mut mia = Visitor::enter(cluster.home.address, "lobby", "mia").await;
    say(&mut mia, "k1", "@aizuchi count number 1").await;
    eventually("the tool counts", async || (!counted(&cluster.home).is_empty()).then_some(())).await;
    worker.kill();
    let _worker = cluster.worker().await;
    assert_eq!(answer(&mut mia).await, "number 1 is perhaps counted.");
    let posts = answers(cluster.home.address, 1).await;
    assert_eq!(posts.len(), 1, "{posts:?}");
    assert_eq!(counted(&cluster.home), ["1"]);
    let stuck = cluster.home.command(&["cluster", "rooms", "--stuck"]).await;
    assert!(stuck.contains("no room is stuck"), "{stuck}");
}
