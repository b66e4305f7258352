//! A single machine becomes a cluster while people talk, and a single machine again: rooms go on where they were.

use std::path::Path;
use std::time::Duration;

use aizuchi_test_servers::visitor::Visitor;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::cluster_rooms::{ClusterServers, answer, both, say};
use crate::program::{Home, PATIENCE, Program, eventually, new_home};

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
    assert!(finn.order("/mute").await.contains("muted"));
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = say_and_wait(&mut mia).await;
    program.kill();

    let database = servers.postgres.empty_database().await;
    let url = servers.postgres.url(&database);
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
    assert!(finn.order("/mute").await.contains("muted"));
    let told = cluster.command(&["cluster", "leave"]).await;
    assert!(told.contains("a gateway still runs"), "{told}");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());

    // A worker is enough for what is left to do.
    let mut worker = cluster.start_as(&["worker"], "registered the worker with Restate").await;
    // The folder of the single machine need not be there yet.
    let mut elsewhere = servers.home_on(&url, SETTINGS);
    let data = elsewhere.folder().join("new").join("data");
    elsewhere.set(format!("store.folder={}", data.display()));
    servers.postgres.psql(&database, "INSERT INTO cluster_preset VALUES ('web:den', 'myao2')").await;
    eventually("nothing is pending any more", async || {
        let told = elsewhere.command(&["cluster", "leave"]).await;
        told.contains("2 rooms are in").then_some(()).or_else(|| {
            assert!(told.contains("not over") || told.contains("try again"), "{told}");
            None
        })
    })
    .await;
    let presets = std::fs::read_to_string(data.join("rooms.toml")).expect("it was written");
    assert!(presets.contains("web:den"), "{presets}");
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

/// A cluster on a database of its own in which somebody was answered, and whose processes have ended; and a single process on it.
struct Moving {
    servers: ClusterServers,
    database: String,
    cluster: Home,
    single: Home,
}

impl Moving {
    async fn prepare() -> Moving {
        let servers = ClusterServers::start().await;
        let database = servers.postgres.empty_database().await;
        let url = servers.postgres.url(&database);
        let (cluster, mut single) = (servers.home_on(&url, SETTINGS), new_home(SETTINGS));
        single.set(format!("store.url={url}"));
        let mut program = both(&cluster).await;
        let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
        say(&mut mia, "1", "@aizuchi are you there?").await;
        answer(&mut mia).await;
        program.terminate();
        assert!(program.ended().await.success(), "{}", program.said());
        Moving { servers, database, cluster, single }
    }

    async fn psql(&self, sql: &str) -> String {
        self.servers.postgres.psql(&self.database, sql).await
    }

    async fn worker(&self) -> Program {
        self.cluster.start_as(&["worker"], "registered the worker with Restate").await
    }

    async fn leave(&self) -> (Option<i32>, String) {
        run(&self.cluster, &["cluster", "leave"]).await
    }

    /// What is recorded after something of a single process would hide that.
    async fn records_no_more(&self) {
        let last = async || self.psql("select max(seq) from journal").await;
        eventually("everything is recorded", async || {
            let before = last().await;
            tokio::time::sleep(Duration::from_secs(2)).await;
            (last().await == before).then_some(())
        })
        .await;
    }

    /// Leaves as soon as nothing is pending any more.
    async fn leave_at_rest(&self) -> (Option<i32>, String) {
        eventually("nothing is pending any more", async || {
            let (code, told) = self.leave().await;
            (!told.contains("not over") && !told.contains("try again")).then_some((code, told))
        })
        .await
    }
}

async fn run(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let mut program = home.spawn_as(arguments);
    (program.ended().await.code(), program.said())
}

/// It started where no process of the cluster ran, and the cluster did not know of what it did.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_process_waits_until_a_cluster_was_left() {
    let moving = Moving::prepare().await;
    let doctor = async || run(&moving.single, &["doctor"]).await;
    let names_the_way_back = |(code, told): (Option<i32>, String)| {
        assert!(
            code == Some(1) && told.contains("is that of a cluster") && told.contains("`aizuchi cluster leave`"),
            "{told}"
        );
    };
    names_the_way_back(moving.single.refused().await);
    names_the_way_back(doctor().await);
    names_the_way_back(run(&moving.single, &["rooms", "close", "den"]).await);

    // It cannot do all of it, and does nothing.
    moving.psql("insert into cluster_preset values ('web:den', 'myao2')").await;
    moving
        .psql(
            "create function interrupt() returns trigger language plpgsql as $$ begin raise exception 'interrupted'; end $$;
            create trigger interrupt before delete on cluster_preset execute function interrupt()",
        )
        .await;
    let mut worker = moving.worker().await;
    let (code, told) = moving.leave_at_rest().await;
    assert!(code == Some(1) && told.contains("interrupted"), "{told}");
    names_the_way_back(doctor().await);
    moving.psql("drop trigger interrupt on cluster_preset").await;
    let (code, told) = moving.leave_at_rest().await;
    assert!(code == Some(0) && told.contains("1 rooms are in"), "{told}");
    worker.terminate();
    assert!(worker.ended().await.success(), "{}", worker.said());
    let (_, told) = doctor().await;
    assert!(!told.contains("is that of a cluster"), "{told}");
    moving.single.start().await;
}

/// The snapshots of the single process were replaced by none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_single_process_did_is_overwritten_when_a_cluster_is_left() {
    let moving = Moving::prepare().await;
    let mut worker = moving.worker().await;
    moving.records_no_more().await;
    // As a program did that did not know clusters.
    moving
        .psql(
            "insert into journal (seq, shard, at, room, body, sum)
            select seq + 1, 0, at, room, body, sum from journal order by seq desc limit 1",
        )
        .await;
    let (code, told) = moving.leave_at_rest().await;
    assert!(code == Some(1) && told.contains("a single process has recorded something"), "{told}");
    moving.psql("delete from journal where seq = (select max(seq) from journal)").await;
    let (code, told) = moving.leave_at_rest().await;
    assert!(code == Some(0) && told.contains("1 rooms are in"), "{told}");
    worker.terminate();
    assert!(worker.ended().await.success(), "{}", worker.said());
    let snapshots = moving.psql("select count(*) from snapshot").await;
    assert_ne!(snapshots, "0");

    // Its answer may have been lost.
    let (code, told) = moving.leave().await;
    assert!(code == Some(0) && told.contains("has been left already"), "{told}");
    assert_eq!(moving.psql("select count(*) from snapshot").await, snapshots);
    let mut program = moving.single.start().await;
    let mut finn = Visitor::enter(program.address, "garden", "finn").await;
    assert!(finn.order("/mute").await.contains("muted"));
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let (code, told) = moving.leave().await;
    assert!(code == Some(1) && told.contains("a single process has recorded something"), "{told}");
    let program = moving.single.start().await;
    let (mut finn, _) = Visitor::come_back(program.address, "garden", "finn", Some(&finn.person), 0).await;
    let status = finn.order("/status").await;
    assert!(status.contains("muted"), "{status}");
}

/// It took the rooms again, and the states in Restate were not theirs: nobody could go on with them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_starts_again_takes_nothing_back_after_a_cluster_was_left() {
    let moving = Moving::prepare().await;
    let mut worker = moving.worker().await;
    let (code, told) = moving.leave_at_rest().await;
    assert!(code == Some(0) && told.contains("1 rooms are in"), "{told}");
    worker.kill();
    let mut worker = moving.cluster.spawn_as(&["worker"]);
    let ended = tokio::time::timeout(PATIENCE, worker.ended()).await.expect("it ends");
    assert!(!ended.success() && worker.said().contains("give the cluster an empty Restate"), "{}", worker.said());
    let program = moving.single.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    say(&mut mia, "2", "@aizuchi are you still there?").await;
    answer(&mut mia).await;
}
