//! A single machine becomes a cluster while people talk, and a single machine again: rooms go on where they were.

use std::path::Path;

use aizuchi_test_servers::visitor::Visitor;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::cluster_rooms::{ClusterServers, answer, both, say};
use crate::program::{Home, eventually, new_home};

const SETTINGS: &[&str] = &[
    "preset=myao2",
    "response.min_wait_seconds=10",
    "response.jitter_ratio=0",
    "reply.part_chars=1500",
    "web.rooms=[\"lobby\", \"garden\"]",
];

/// Copies everything from one store into another.
async fn copy(home: &Home, from: &str, to: &str) {
    let told = home.plain_command(&["store", "copy", "--from", from, "--to", to]).await;
    assert!(told.contains("counted and compared"), "{told}");
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// What was decided about a message: how, and when a model was asked.
async fn decision(home: &Home, message: &str) -> Value {
    let body = eventually("it is decided", async || {
        let file = home.folder().join("copy.db");
        for leftover in ["copy.db", "copy.db-wal", "copy.db-shm"] {
            let _ = std::fs::remove_file(home.folder().join(leftover));
        }
        let told = home.command(&["backup", &shown(&file)]).await;
        assert!(told.contains("wrote "), "{told}");
        let store = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a copy can be read");
        store.query_row("SELECT body FROM trace WHERE message = ?1", [message], |row| row.get::<_, String>(0)).ok()
    })
    .await;
    let trace: Value = serde_json::from_str(&body).expect("a decision can be read");
    let parts = ["message", "outcome", "stage", "score", "gate", "factors"];
    let mut essence: Vec<Value> = parts.iter().map(|part| trace[*part].clone()).collect();
    essence.push(trace["asked"][0]["at"].clone());
    Value::from(essence)
}

async fn say_and_wait(visitor: &mut Visitor) -> String {
    let id = say(visitor, "wait", "does anybody know a quiet place nearby?").await;
    eventually("it waits", async || {
        visitor.next("view").await["view"]["places"].to_string().contains("\"due\"").then_some(())
    })
    .await;
    id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_machine_becomes_a_cluster_and_a_single_machine_again() {
    let servers = ClusterServers::start().await;
    let (single, beside) = (new_home(SETTINGS), new_home(SETTINGS));
    let mut program = single.start().await;
    let mut finn = Visitor::enter(program.address, "garden", "finn").await;
    say(&mut finn, "1", "@aizuchi are you there?").await;
    answer(&mut finn).await;
    assert!(finn.order("/mute").await.contains("Muted"));
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = say_and_wait(&mut mia).await;
    program.kill();

    let url = servers.postgres.url(&servers.postgres.empty_database().await);
    copy(&single, &shown(&single.data()), &url).await;
    copy(&single, &shown(&single.data()), &shown(&beside.data())).await;
    let _beside = beside.start().await;
    let cluster = servers.home_on(&url, SETTINGS);
    let mut program = both(&cluster).await;
    let decided = decision(&cluster, &id).await;
    assert_eq!(decided, decision(&beside, &id).await, "it decides as a single machine that goes on");
    assert!(!decided[6].is_null(), "the wait ended, and the judge was asked: {decided}");
    let (mut finn, _) = Visitor::come_back(program.address, "garden", "finn", Some(&finn.person), 0).await;
    let status = finn.order("/status").await;
    assert!(status.contains("muted"), "{status}");
    finn.order("/unmute").await;
    say(&mut finn, "2", "@aizuchi and now?").await;
    answer(&mut finn).await;
    assert!(finn.order("/mute").await.contains("Muted"));
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());

    // A worker is enough for what is left to do.
    let mut worker = cluster.start_as(&["worker"], "Restate knows this worker").await;
    eventually("nothing is pending any more", async || {
        let told = cluster.command(&["cluster", "leave"]).await;
        told.contains("2 rooms are in").then_some(()).or_else(|| {
            assert!(told.contains("not over") || told.contains("try again"), "{told}");
            None
        })
    })
    .await;
    worker.terminate();
    assert!(worker.ended().await.success(), "{}", worker.said());
    let again = new_home(SETTINGS);
    copy(&again, &url, &shown(&again.data())).await;
    let program = again.start().await;
    let (mut finn, told) = Visitor::come_back(program.address, "garden", "finn", Some(&finn.person), 0).await;
    assert_eq!(aizuchi_test_servers::visitor::texts(&told).len(), 4, "{told:?}");
    let status = finn.order("/status").await;
    assert!(status.contains("muted"), "{status}");
    finn.order("/unmute").await;
    say(&mut finn, "3", "@aizuchi still there?").await;
    answer(&mut finn).await;
}
