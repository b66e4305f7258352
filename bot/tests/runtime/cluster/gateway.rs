//! What a gateway does with messages, with what others left, and with requests to forget.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::cluster::{Gateway, Stamped};
use aizuchi::journal::Journal;
use aizuchi::ports::{ClusterMoves as _, ClusterStore as _, GatewayNumber, StoreBackend as _, Tenure};
use aizuchi::runtime::{Clock, EngineHandle};
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{Change, MessageId, PersonId, Place, RoomId, Span};
use aizuchi_core::{Engine, Input, Message};
use aizuchi_test_servers::program::eventually;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::one_node::OneNode;
use crate::made_up::{START, policies, said};
use crate::money::Counting;

const SETTINGS: [&str; 1] = ["preset=aizuchi"];

/// A gateway beside a worker.
struct GatewayStage {
    node: OneNode,
    engine: EngineHandle,
    _running: DropGuard,
}

async fn stage() -> GatewayStage {
    let node = OneNode::start(policies(&SETTINGS), Counting::taking(0), Clock::standing_at(START)).await;
    let ((inbox, heard), (report, _)) = (mpsc::channel(100), mpsc::unbounded_channel());
    let (engine, stop) = (EngineHandle::new(vec![inbox], report), CancellationToken::new());
    let journal = Journal::new(node.database.stores());
    let gateway = Gateway::new(node.context.clone(), node.restate.clone(), journal, "test".into(), GatewayNumber(1));
    tokio::spawn(Arc::new(gateway).run(heard, stop.clone()));
    GatewayStage { node, engine, _running: stop.drop_guard() }
}

fn says(room: &str, id: &str, who: &str, text: &str) -> Input {
    let Input::Said(message) = said(id, START, who, text) else { panic!("somebody said it") };
    Input::Said(Message { place: Place::room(room), ..message })
}

impl GatewayStage {
    async fn knows(&self, room: &str, word: &str) -> bool {
        let state = self.node.state(&RoomId::new(room)).await;
        let engine = Engine::unpack_room(policies(&SETTINGS), &state.packed).expect("a room can be read");
        serde_json::to_string(&engine.snapshot()).expect("it can be written").contains(word)
    }

    async fn recorded(&self, word: &str) -> bool {
        self.node.sql(&format!("SELECT count(*) FROM journal WHERE body LIKE '%{word}%'")).await != "0"
    }

    async fn call(&self, room: &str, key: &str, input: Input) {
        self.node.restate.call(&RoomId::new(room), key, &[Stamped::new(START, input)]).await.expect("a room listens");
    }

    /// How many requests to forget wait for this room.
    async fn waiting_forgets(&self, room: &str) -> usize {
        let query = format!(
            "SELECT id FROM sys_invocation WHERE target_handler_name = 'forget' AND target_service_key = '{room}'
            AND status <> 'completed'"
        );
        self.node.restate.query(&query).await.expect("Restate answers").len()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_cannot_go_on_keeps_nobody_from_being_forgotten_elsewhere() {
    let stage = stage().await;
    for room in ["log:stuck", "log:well"] {
        stage.call(room, room, says(room, "m1", "mia", "my cat is called Schnurri")).await;
    }
    // What could not be parsed was said by nobody knows whom.
    let url = format!("{}/restate/call/Room/log%3Awell/handle", stage.node.server.ingress());
    let unreadable = reqwest::Client::new().post(url).header("content-type", "application/octet-stream");
    let answer = unreadable.body(r#"[{"at": 1, "input": {"Sung": "Schnurri"}}]"#).send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    assert_eq!(stage.node.database.set_aside(10).await.unwrap().len(), 1);
    let (stuck, whole) = (RoomId::new("log:stuck"), stage.node.state(&RoomId::new("log:stuck")).await.encode());
    stage.node.set_state(&stuck, &[&[99], &whole[1..]].concat()).await;
    let rooms = ["log:stuck", "log:well"].map(RoomId::new).to_vec();
    let request = Arc::new(ForgetRequest { ids: vec![PersonId::new("mia")], rooms, ..ForgetRequest::default() });
    for attempt in 0..2 {
        let failed = stage.engine.forget(&request).await.expect_err("one room has not forgotten").to_string();
        assert!(failed.contains("1 room has not forgotten"), "{failed}");
        assert_eq!(stage.waiting_forgets("log:stuck").await, 1, "attempt {attempt}");
    }
    assert!(!stage.knows("log:well", "Schnurri").await && !stage.recorded("Schnurri").await);
    let set_aside = stage.node.database.set_aside(10).await.unwrap();
    assert!(set_aside.iter().all(|row| !format!("{row:?}").contains("Schnurri")), "{set_aside:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_on_its_way_is_heard_before_it_is_forgotten() {
    let stage = stage().await;
    stage.call("log:room", "first", says("log:room", "m1", "mia", "good morning")).await;
    // Another gateway stored it, and tells it in a moment.
    let late = serde_json::to_string(&says("log:room", "m2", "mia", "my cat is called Schnurri")).unwrap();
    let store = format!("INSERT INTO cluster_outbox (at, room, body) VALUES ({}, 'log:room', '{late}')", START.0);
    stage.node.sql(&store).await;
    let number: i64 = stage.node.sql("SELECT max(id) FROM cluster_outbox").await.parse().unwrap();
    let request = ForgetRequest {
        ids: vec![PersonId::new("mia")],
        rooms: vec![RoomId::new("log:room")],
        ..ForgetRequest::default()
    };
    let (request, engine) = (Arc::new(request), stage.engine.clone());
    let forgetting = tokio::spawn(async move { engine.forget(&request).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!forgetting.is_finished(), "it waits for what is on its way");
    let told = says("log:room", "m2", "mia", "my cat is called Schnurri");
    let told = [Stamped { number: Some(number), ..Stamped::new(START, told) }];
    stage.node.restate.call(&RoomId::new("log:room"), "late", &told).await.unwrap();
    stage.node.database.sent(vec![number]).await.unwrap();
    forgetting.await.unwrap().unwrap();
    assert!(!stage.knows("log:room", "Schnurri").await && !stage.recorded("Schnurri").await);
}

/// It is with Restate, and no worker has handled it: PostgreSQL knows nothing of the room.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_restate_still_has_for_rooms_is_waited_for_before_somebody_is_forgotten() {
    let stage = stage().await;
    stage.node.end_worker();
    let told = says("log:new", "m1", "mia", "my cat is called Schnurri");
    stage.node.restate.tell(&RoomId::new("log:new"), "first", &[Stamped::new(START, told)]).await.unwrap();
    let request = Arc::new(ForgetRequest { ids: vec![PersonId::new("mia")], ..ForgetRequest::default() });
    let failed = stage.engine.forget(&request).await.expect_err("it is still to be heard").to_string();
    assert!(failed.contains("not every room has heard"), "{failed}");
    stage.node.start_worker().await;
    eventually("it is forgotten", async || stage.engine.forget(&request).await.ok()).await;
    assert!(!stage.knows("log:new", "Schnurri").await && !stage.recorded("Schnurri").await);
}

/// A gateway that had been stopped told a room older edits after another one had told it newer ones.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_heard_under_a_right_that_is_lost_is_not_told_any_more() {
    let stage = stage().await;
    stage.call("log:room", "first", says("log:room", "m1", "mia", "good morning")).await;
    stage.node.server.kill();
    let edit = |text: &str| {
        let (place, id) = (Place::room("log:room"), MessageId::new("m1"));
        Input::Changed(Change { place, id, at: START, text: Some(text.into()) })
    };
    let tenure = Tenure::new(Instant::now() + Duration::from_secs(3600));
    let stopped = stage.engine.clone().within(Some(tenure.clone()));
    let older = edit("good evening");
    let older = tokio::spawn(async move { stopped.submit(older).await });
    // Another gateway has the platform from now on.
    tenure.end();
    stage.node.server.start_again().await;
    stage.engine.submit(edit("good night")).await.expect("it is accepted");
    assert!(older.await.unwrap().is_err(), "nobody waits for it any more");
    eventually("the newer one is heard", async || stage.recorded("good night").await.then_some(())).await;
    assert!(!stage.recorded("good evening").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_gateway_left_is_told_and_what_cannot_be_read_keeps_nothing_else_waiting() {
    let stage = stage().await;
    let readable = serde_json::to_string(&says("log:room", "m1", "mia", "good morning")).unwrap();
    for body in [r#"{"Sung": "in B minor"}"#, &readable] {
        let store = format!(
            "INSERT INTO cluster_outbox (at, stored, room, body)
            VALUES ({}, now() - interval '1 minute', 'log:room', '{body}')",
            START.0
        );
        stage.node.sql(&store).await;
    }
    eventually("nothing waits any more", async || {
        (stage.node.database.count_unsent(i64::MAX).await == Ok(0)).then_some(())
    })
    .await;
    eventually("it is heard", async || {
        let records = stage.node.records().await;
        records
            .iter()
            .any(|record| matches!(&record.input, Input::Said(message) if message.id.as_str() == "m1"))
            .then_some(())
    })
    .await;
    let set_aside = stage.node.database.set_aside(10).await.unwrap();
    assert!(set_aside.len() == 1 && set_aside[0].input.contains("B minor"), "{set_aside:?}");
    assert!(!set_aside[0].error.contains("Sung"), "{set_aside:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_that_is_closed_leaves_nothing_of_what_was_said_just_before() {
    let stage = stage().await;
    let room = RoomId::new("log:room");
    for number in 0..40 {
        let told = says("log:room", &format!("m{number}"), "mia", "my cat is called Schnurri");
        stage.engine.enqueue(told).await.unwrap();
    }
    stage.engine.close(&room).await.unwrap();
    assert!(!stage.recorded("Schnurri").await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!stage.recorded("Schnurri").await, "nothing comes after it");
    assert!(stage.node.records().await.iter().any(|record| matches!(record.input, Input::Forgotten)));
}

/// A timer may ring between the look at a room and the commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_ends_only_where_it_was_looked_at() {
    let stage = stage().await;
    let (database, room) = (&stage.node.database, RoomId::new("log:room"));
    stage.call("log:room", "first", says("log:room", "m1", "mia", "good morning")).await;
    let looked_at = database.record_counts().await.unwrap();
    let tick = [Stamped::new(START + Span::seconds(1), Input::Tick)];
    stage.node.restate.call(&room, "second", &tick).await.unwrap();
    assert_eq!(database.end_cluster(Vec::new(), looked_at).await, Ok(false));
    let looked_at = database.record_counts().await.unwrap();
    stage.node.sql("INSERT INTO cluster_outbox (at, room, body) VALUES (1, 'log:room', '{}')").await;
    assert_eq!(database.end_cluster(Vec::new(), looked_at.clone()).await, Ok(false), "something waits");
    stage.node.sql("DELETE FROM cluster_outbox").await;
    assert_eq!(database.end_cluster(Vec::new(), looked_at).await, Ok(true));
    assert!(database.record_counts().await.unwrap().is_empty());
}
