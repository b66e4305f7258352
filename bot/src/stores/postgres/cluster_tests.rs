//! Processes of a cluster on one database: what each needs of it when others start and end, and what only one may have.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Time};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer};
use aizuchi_test_servers::program::eventually;
use tokio_util::sync::CancellationToken;

use super::{ClusterSession, LockHolder, PgShardClaims, PgTarget, PostgresDatabase, ProcessNotice, while_held};
use crate::ports::{
    ClusterStore as _, CopyScope, CopyStore as _, PageNotice, PageNotices as _, RecordOutcome, RecordedBatch,
    RoomBatch, SetAside, ShardClaims as _, ShardShare,
};
use crate::stores::StoreError;

/// How long a start may take on a busy machine.
const STARTS_WITHIN: Duration = Duration::from_secs(20);

struct Cluster {
    server: PostgresServer,
    folder: Scratch,
    database: String,
}

impl Cluster {
    async fn start() -> Cluster {
        let server = PostgresServer::start(PostgresOptions::default()).await;
        let database = server.empty_database().await;
        Cluster { server, folder: Scratch::new("cluster"), database }
    }

    fn target(&self) -> PgTarget {
        PgTarget::new(&self.server.url(&self.database).into(), &|_| None).expect("a sound address")
    }

    async fn process(&self) -> PostgresDatabase {
        let opening = PostgresDatabase::open_among_others(self.target(), self.folder.join("postgres"));
        let opened = tokio::time::timeout(STARTS_WITHIN, opening).await;
        opened.expect("a start waits for nobody").expect("a database")
    }

    async fn psql(&self, sql: &str) -> String {
        self.server.psql(&self.database, sql).await
    }
}

/// It could never write again: without its row it did not know what it had committed.
#[tokio::test]
async fn a_process_that_runs_for_months_writes_on_after_a_lost_connection() {
    let cluster = Cluster::start().await;
    let old = cluster.process().await;
    let note = async |room: &str| old.choose_preset(room, "sphene").await;
    note("web:lobby").await.expect("it can be written");
    cluster.psql("insert into cluster_writer values (1, 1, now())").await;
    cluster.psql("update cluster_writer set began = now() - interval '31 days'").await;
    let _new = cluster.process().await;
    assert_eq!(
        cluster.psql("select count(*) from cluster_writer where process = 1").await,
        "0",
        "of a process that ended"
    );
    cluster
        .psql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'aizuchi writer'")
        .await;
    assert_eq!(note("web:garden").await, Ok(()));
    let fresh = "select count(*) from cluster_writer where began > now() - interval '1 hour'";
    assert_eq!(cluster.psql(fresh).await, "1");
}

/// It waited for the dump, and all others waited for it.
#[tokio::test]
async fn a_process_can_start_during_a_dump() {
    let cluster = Cluster::start().await;
    let running = cluster.process().await;
    let (dump, driver) = cluster.target().connect("a dump").await.expect("the server answers");
    tokio::spawn(driver);
    let read =
        "begin isolation level repeatable read; select count(*) from cluster_room, cluster_outbox, cluster_writer";
    dump.batch_execute(read).await.expect("it may read");
    let _new = cluster.process().await;
    running.choose_preset("web:lobby", "sphene").await.expect("it can be written");
    dump.batch_execute("commit").await.expect("it went on");
}

/// A gateway that a platform did not let in kept it from all others.
#[tokio::test]
async fn what_a_process_gives_up_is_taken_by_another() {
    let (cluster, stop) = (Cluster::start().await, CancellationToken::new());
    let session = || ClusterSession::start(cluster.target(), &["slack"], stop.clone());
    let (first, second) = (session(), session());
    let (ended, mut has_ended) = tokio::sync::mpsc::unbounded_channel();
    for (name, session) in [("first", first), ("second", second)] {
        let (ended, lock) = (ended.clone(), session.lock("slack").expect("it wants it"));
        let refused = move |_, _| {
            let _ = ended.send(name);
            std::future::ready(())
        };
        tokio::spawn(while_held(lock, stop.clone(), refused));
    }
    let mut had_it = [has_ended.recv().await.expect("one has it"), has_ended.recv().await.expect("then the other")];
    had_it.sort_unstable();
    assert_eq!(had_it, ["first", "second"]);
    stop.cancel();
}

/// The rooms of before were not those of what had been copied, and nobody could go on with them.
#[tokio::test]
async fn what_is_emptied_for_a_copy_has_no_rooms_of_a_cluster() {
    let cluster = Cluster::start().await;
    let process = cluster.process().await;
    cluster.psql("insert into cluster_room values ('web:lobby', 1, 7, 7)").await;
    process.clear(CopyScope::Memory).await.expect("it can be emptied");
    assert_eq!(cluster.psql("select count(*) from cluster_room").await, "1");
    process.clear(CopyScope::Everything).await.expect("it can be emptied");
    assert_eq!(cluster.psql("select count(*) from cluster_room").await, "0");
}

/// A room that could not be told kept what gateways had left for all others from being found.
#[tokio::test]
async fn what_was_left_for_one_room_hides_nothing_that_was_left_for_another() {
    let cluster = Cluster::start().await;
    let process = cluster.process().await;
    let leave = "insert into cluster_outbox (at, stored, room, body)
        select 1, now() - interval '1 hour', case number when 1000 then 'web:garden' else 'web:lobby' end, '{}'
        from generate_series(1, 1000) as number";
    cluster.psql(leave).await;
    let left = process.newest_left(Duration::from_secs(15)).await.expect("it can be read");
    let rooms: BTreeSet<String> =
        left.unreadable.iter().filter_map(|row| Some(row.room.as_ref()?.to_string())).collect();
    assert_eq!(rooms, ["web:garden", "web:lobby"].map(String::from).into());
    let newest = left.unreadable.iter().map(|row| row.id).max();
    assert_eq!(newest, Some(1000));
}

/// It waited for fifteen seconds, or for the next message in its room.
#[tokio::test]
async fn what_a_gateway_left_is_found_as_soon_as_the_gateway_is_gone() {
    let cluster = Cluster::start().await;
    let (process, stop) = (cluster.process().await, CancellationToken::new());
    let session = ClusterSession::start(cluster.target(), &["gateway"], stop.clone());
    let number = session.gateway_number();
    let mut lock = session.lock("gateway").expect("it wants it");
    lock.until_held().await;
    let leave =
        format!("insert into cluster_outbox (at, room, body, gateway) values (1, 'web:lobby', '{{}}', {})", number.0);
    cluster.psql(&leave).await;
    let left = async || {
        let left = process.newest_left(Duration::from_secs(3600)).await.expect("it can be read");
        left.unreadable.len()
    };
    assert_eq!(left().await, 0, "the gateway lives and tells it itself");
    stop.cancel();
    eventually("it is found", async || (left().await == 1).then_some(())).await;
}

fn ticks(room: &str, after: u64, at: &[u64]) -> RoomBatch {
    let records = at.iter().map(|at| (Time(*at), Input::Tick)).collect();
    RoomBatch { records, ..RoomBatch::new(RoomId::new(room), after) }
}

/// With an empty Restate, all that people said was taken for what had been recorded, and was lost.
#[tokio::test]
async fn what_is_recorded_is_recognised_and_nothing_else_that_is_behind_is_taken_for_it() {
    let cluster = Cluster::start().await;
    let process = cluster.process().await;
    let record = async |batch: RoomBatch| process.record(Arc::new(batch)).await;
    let first = || ticks("web:lobby", 0, &[1, 2]);
    assert!(matches!(record(first()).await, Ok(RecordOutcome::Recorded(RecordedBatch { seq: 2, .. }))));
    assert!(matches!(record(first()).await, Ok(RecordOutcome::Recorded(RecordedBatch { seq: 2, .. }))));
    let refused = async |batch: RoomBatch| {
        let refused = record(batch).await;
        assert!(
            matches!(&refused, Err(StoreError::Failed(why)) if why.contains("do not belong together")),
            "{refused:?}"
        );
    };
    for at in [&[3, 4][..], &[3], &[1], &[], &[3, 4, 5]] {
        refused(ticks("web:lobby", 0, at)).await;
    }
    record(ticks("web:lobby", 2, &[5])).await.expect("it goes on");
    refused(first()).await;
    refused(ticks("web:lobby", 2, &[6])).await;
    refused(ticks("web:lobby", 4, &[7])).await;

    // What cannot be handled is no record.
    let aside = |input: &str| {
        let set_aside =
            SetAside { room: RoomId::new("web:lobby"), at: Time(6), input: input.into(), error: "odd".into() };
        RoomBatch { set_aside: vec![set_aside], ..ticks("web:lobby", 3, &[]) }
    };
    for input in ["one", "one", "two"] {
        record(aside(input)).await.expect("it goes on");
    }
    assert_eq!(cluster.psql("select string_agg(input, ' ' order by id) from cluster_set_aside").await, "one two");
    assert_eq!(cluster.psql("select count(*), max(seq) from journal").await, "3|3");

    // An earlier version recorded it and ended before Restate knew.
    cluster.psql("update cluster_room set attempt = null").await;
    record(ticks("web:lobby", 2, &[5])).await.expect("it goes on");
    refused(ticks("web:lobby", 0, &[1, 2, 3])).await;
}

/// The next notice for pages.
async fn page_notice(notices: &mut tokio::sync::broadcast::Receiver<ProcessNotice>) -> PageNotice {
    loop {
        if let ProcessNotice::Page(notice) = notices.recv().await.expect("the session lives") {
            return notice;
        }
    }
}

#[tokio::test]
async fn pages_of_other_processes_hear_what_is_not_stored() {
    let (cluster, stop) = (Cluster::start().await, CancellationToken::new());
    let session = || ClusterSession::start(cluster.target(), &[], stop.clone());
    let (first, second) = (session(), session());
    let (mut at_first, mut at_second) = (first.notices(), second.notices());
    for notices in [&mut at_first, &mut at_second] {
        assert_eq!(notices.recv().await, Ok(ProcessNotice::Missed), "from now on it hears the others");
    }
    let typing = PageNotice::Typing { room: "lobby".into(), name: "aizuchi".into(), thread: None };
    first.page_notices().tell(typing.clone());
    assert_eq!(page_notice(&mut at_second).await, typing);
    second.page_notices().tell(PageNotice::RoomClosed { room: "lobby".into() });
    let closed = PageNotice::RoomClosed { room: "lobby".into() };
    assert_eq!(page_notice(&mut at_first).await, closed, "it does not hear itself");
    // What a notification cannot hold does not end the session.
    first.page_notices().tell(PageNotice::RoomClosed { room: "x".repeat(10_000) });
    first.page_notices().tell(PageNotice::RoomOpened);
    assert_eq!(page_notice(&mut at_second).await, PageNotice::RoomOpened);
    stop.cancel();
}

/// The connections of a platform, as one gateway has them.
struct ClaimingGateway {
    claims: PgShardClaims,
    share: ShardShare,
}

impl ClaimingGateway {
    async fn claim(cluster: &Cluster, count: u32) -> ClaimingGateway {
        let claims = PgShardClaims::start(cluster.target(), "discord", CancellationToken::new());
        let share = claims.claim(count).await;
        ClaimingGateway { claims, share }
    }

    fn ours(&self) -> BTreeSet<u32> {
        self.share.ours.borrow().shards.clone()
    }

    async fn has(&self, shards: std::ops::Range<u32>) {
        let shards: BTreeSet<u32> = shards.collect();
        eventually("it has its connections", async || (self.ours() == shards).then_some(())).await;
    }
}

const SHARDS_LOST: &str =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'aizuchi shards%'";

#[tokio::test]
async fn a_gateway_that_leaves_lets_others_have_all_its_connections() {
    let cluster = Cluster::start().await;
    let tables = cluster.process().await;
    let first = ClaimingGateway::claim(&cluster, 3).await;
    first.has(0..3).await;
    let holders = tables.lock_holders(&["leader", "discord"]).await.expect("it can be read");
    let shown = |holder: &LockHolder| (holder.name.clone(), holder.shards.clone());
    assert_eq!(holders.iter().map(shown).collect::<Vec<_>>(), [(Some("discord".into()), vec![0, 1, 2])]);
    assert!(holders[0].process.ends_with(&std::process::id().to_string()), "{holders:?}");
    let second = ClaimingGateway::claim(&cluster, 3).await;
    assert!(second.ours().is_empty(), "the first has all of them until it has closed some");
    first.claims.leave();
    second.has(0..3).await;
}

/// Each saw the other, and both took the number of a gateway that had ended long before.
#[tokio::test]
async fn gateways_that_start_at_once_use_the_number_of_one_of_them() {
    let cluster = Cluster::start().await;
    let _tables = cluster.process().await;
    for round in 0..5 {
        cluster
            .psql("insert into cluster_shards values ('discord', 7) on conflict (platform) do update set count = 7")
            .await;
        let gateways = futures_util::future::join_all((0..4).map(|_| ClaimingGateway::claim(&cluster, 3))).await;
        let counts: Vec<u32> = gateways.iter().map(|gateway| gateway.share.count).collect();
        assert_eq!(counts, [3; 4], "round {round}");
        drop(gateways);
        eventually("they have ended", async || {
            let open = "select count(*) from pg_stat_activity where application_name like 'aizuchi shards%'";
            (cluster.psql(open).await == "0").then_some(())
        })
        .await;
    }
}

/// It took none itself, and the others left it its part.
#[tokio::test]
async fn a_gateway_with_another_number_of_connections_keeps_none_from_the_others() {
    let cluster = Cluster::start().await;
    let _tables = cluster.process().await;
    let first = ClaimingGateway::claim(&cluster, 3).await;
    first.has(0..3).await;
    cluster.psql(SHARDS_LOST).await;
    let second = ClaimingGateway::claim(&cluster, 5).await;
    second.has(0..5).await;
    // The first one tries to come back meanwhile.
    tokio::time::sleep(Duration::from_secs(3)).await;
    second.has(0..5).await;
    assert_eq!((first.ours().len(), second.share.count), (0, 5));
    second.claims.leave();
    first.has(0..3).await;
}
