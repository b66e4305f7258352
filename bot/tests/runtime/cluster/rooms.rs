//! What a room does with its inputs: each once, in order, whatever else happens.

use std::sync::Arc;

use aizuchi::cluster::{Forgetting, RoomState, Stamped};
use aizuchi::journal::traces;
use aizuchi::ports::{ClusterStore as _, RoomBatch};
use aizuchi::runtime::Clock;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{PersonId, RoomId, Span};
use aizuchi_core::{Engine, Input, Time};
use aizuchi_test_servers::program::eventually;
use serde_json::json;

use super::held_models::HeldModels;
use super::one_node::OneNode;
use crate::made_up::{START, line, policies, said};

fn room() -> RoomId {
    RoomId::new("log:room")
}

fn stamped(id: &str, at: Time, text: &str) -> Stamped {
    Stamped::new(at, said(id, at, "mia", text))
}

async fn node(settings: &[&str], clock: Clock) -> (OneNode, std::sync::Arc<HeldModels>) {
    let policies = policies(settings);
    let models = HeldModels::new(vec![line("write", "Here I am.", 0)], &policies);
    (OneNode::start(policies, models.clone(), clock).await, models)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_twice_under_one_key_happens_once_and_a_server_that_is_killed_forgets_nothing() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    let told = [stamped("m1", START, "good morning"), stamped("m2", START + Span(10), "lovely day")];
    for _ in 0..3 {
        node.restate.tell(&room(), "first", &told).await.unwrap();
    }
    node.rest(&models, &[room()]).await;
    let before = node.state(&room()).await;
    node.server.kill();
    node.server.start_again().await;
    eventually("Restate is back", async || node.restate.check().await.ok()).await;
    let after = eventually("the room is back", async || node.restate.look(&room()).await.ok()).await;
    assert_eq!(before, after);
    node.restate.tell(&room(), "first", &told).await.unwrap();
    node.rest(&models, &[room()]).await;
    let records = node.records().await;
    let heard = records.iter().filter(|record| matches!(record.input, Input::Said(_))).count();
    assert_eq!((heard, after.records), (2, records.len() as u64), "{records:?}");
}

/// A wait is as long as it was to be, by Restate's timer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_is_told_the_time_when_a_wait_is_over_and_the_answer_is_posted_once() {
    let settings = ["preset=aizuchi", "models.main=offline", "models.judge=offline", "response.min_wait_seconds=1"];
    let (node, models) = node(&settings, Clock::Wall).await;
    let now = Clock::Wall.now();
    node.restate.tell(&room(), "first", &[stamped("m1", now, "aizuchi, are you there?")]).await.unwrap();
    let asked = eventually("a model is asked", async || models.next()).await;
    models.release(asked);
    let posts = eventually("it answers", async || {
        let posts = node.board.posts.lock().unwrap().clone();
        (!posts.is_empty()).then_some(posts)
    })
    .await;
    eventually("it is decided", async || {
        let decided = traces::all(&node.database).await.unwrap();
        decided.iter().any(|trace| trace.acted_at.is_some()).then_some(())
    })
    .await;
    assert_eq!(posts.len(), 1, "{posts:?}");
    node.rest(&models, &[room()]).await;
    let state = node.state(&room()).await;
    assert!(state.calls.is_empty(), "{state:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_settings_reach_a_room_with_what_happens_there_next() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    node.restate.call(&room(), "first", &[stamped("m1", START, "good morning")]).await.unwrap();
    let before = node.state(&room()).await.policies;
    node.context.set_policies(policies(&["preset=aizuchi", "bot.name=hana"])).await.unwrap();
    node.restate.call(&room(), "second", &[stamped("m2", START + Span(10), "lovely day")]).await.unwrap();
    node.rest(&models, &[room()]).await;
    assert_ne!(node.state(&room()).await.policies, before);
    let records = node.records().await;
    let changes = records.iter().filter(|record| matches!(record.input, Input::PolicyChanged(_))).count();
    assert_eq!(changes, 2, "the first ones and the others");
}

/// The attempt before this one was recorded, and its worker died before Restate knew.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_comes_again_decides_by_the_settings_it_was_recorded_with() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    node.restate.call(&room(), "first", &[stamped("m1", START, "good morning")]).await.unwrap();
    node.rest(&models, &[room()]).await;
    let before = node.state(&room()).await;
    let second = stamped("m2", START + Span(10), "lovely day");
    let records = vec![(second.at, second.input.clone())];
    let lost = RoomBatch { records, policies: before.policies, ..RoomBatch::new(room(), before.records) };
    node.database.record(Arc::new(lost)).await.unwrap();
    node.context.set_policies(policies(&["preset=aizuchi", "bot.name=hana"])).await.unwrap();
    node.restate.call(&room(), "second", &[second]).await.unwrap();
    assert_eq!(node.state(&room()).await.policies, before.policies);
    node.restate.call(&room(), "third", &[stamped("m3", START + Span(20), "is it?")]).await.unwrap();
    node.rest(&models, &[room()]).await;
    let told = node.records().await.into_iter().filter_map(|record| match record.input {
        Input::Said(message) => Some(message.id.as_str().to_owned()),
        Input::PolicyChanged(_) => Some("settings".to_owned()),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), ["settings", "m1", "m2", "settings", "m3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_read_is_set_aside_and_the_room_goes_on() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    let url = format!("{}/restate/call/Room/log%3Aroom/handle", node.server.ingress());
    let http = reqwest::Client::new();
    let request = http.post(url).header("content-type", "application/octet-stream");
    let answer = request.body("[{\"at\": 1, \"input\": \"Sung\"}]").send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    node.restate.call(&room(), "next", &[stamped("m1", START, "good morning")]).await.unwrap();
    node.rest(&models, &[room()]).await;
    let set_aside = node.database.set_aside(10).await.unwrap();
    assert!(set_aside.len() == 1 && set_aside[0].error.contains("Sung"), "{set_aside:?}");
    let records = node.records().await;
    assert!(records.iter().any(|record| matches!(record.input, Input::Said(_))), "{records:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_input_that_cannot_be_read_takes_no_others_with_it() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    let sound = |id, at| serde_json::to_value(stamped(id, at, "good morning")).unwrap();
    let told = json!([sound("m1", START), {"at": START.0, "input": "Sung"}, sound("m2", START + Span(10))]);
    let url = format!("{}/restate/call/Room/log%3Aroom/handle", node.server.ingress());
    let request = reqwest::Client::new().post(url).header("content-type", "application/octet-stream");
    let answer = request.body(told.to_string()).send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    node.rest(&models, &[room()]).await;
    assert_eq!(heard(&node).await, ["m1", "m2"]);
    let set_aside = node.database.set_aside(10).await.unwrap();
    assert!(set_aside.len() == 1 && set_aside[0].error.contains("Sung"), "{set_aside:?}");
    assert!(set_aside[0].input.contains("Sung") && !set_aside[0].input.contains("good morning"), "{set_aside:?}");
}

/// The messages that were recorded.
async fn heard(node: &OneNode) -> Vec<String> {
    let records = node.records().await.into_iter();
    let ids = records.filter_map(|record| match record.input {
        Input::Said(message) => Some(message.id.as_str().to_owned()),
        _ => None,
    });
    ids.collect()
}

/// A room in which nobody is known who spoke there, so that whatever looks for them panics.
fn without_speakers(state: RoomState) -> RoomState {
    let policies = policies(&["preset=aizuchi"]);
    let engine = Engine::unpack_room(policies.clone(), &state.packed).unwrap();
    let mut snapshot = serde_json::to_value(engine.snapshot()).unwrap();
    snapshot["rooms"][0]["speakers"]["list"] = json!([]);
    let mut engine = Engine::restore(policies, serde_json::from_value(snapshot).unwrap()).unwrap();
    RoomState { packed: engine.pack_room(&room()).unwrap(), ..state }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_in_which_what_is_due_panics_goes_on_with_what_is_said_next() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    node.restate.call(&room(), "first", &[stamped("m1", START, "good morning")]).await.unwrap();
    let state = node.rest(&models, &[room()]).await.remove(0);
    let due = state.armed.expect("what was said is dropped some day");
    node.set_state(&room(), &without_speakers(state).encode()).await;
    node.restate.tick(&room(), due.0).await.unwrap();
    for (id, after) in [("m2", 1), ("m3", 2)] {
        let at = due + Span::seconds(after);
        node.restate.call(&room(), id, &[stamped(id, at, "lovely day")]).await.unwrap();
    }
    let state = node.rest(&models, &[room()]).await.remove(0);
    assert_eq!(heard(&node).await, ["m1", "m2", "m3"]);
    assert!(state.armed.is_some_and(|armed| armed > due), "{state:?}");
    let set_aside = node.database.set_aside(10).await.unwrap();
    assert!(set_aside.len() == 1 && set_aside[0].error.contains("panicked"), "{set_aside:?}");
    // What is recorded leads to the same room.
    let mut engine = Engine::new(policies(&["preset=aizuchi"]));
    for record in node.records().await {
        engine.handle(record.at, record.input, &mut Vec::new());
    }
    assert_eq!(engine.pack_room(&room()), Some(state.packed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_is_forgotten_also_where_that_panics() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    node.restate.call(&room(), "first", &[stamped("m1", START, "my cat is called Schnurri")]).await.unwrap();
    let state = node.rest(&models, &[room()]).await.remove(0);
    node.set_state(&room(), &without_speakers(state).encode()).await;
    let request = ForgetRequest { ids: vec![PersonId::new("mia")], rooms: vec![room()], ..ForgetRequest::default() };
    let forgetting = Forgetting { at: START + Span(20), request };
    node.restate.forget(&room(), "forget", &forgetting).await.unwrap();
    let state = node.state(&room()).await;
    let engine = Engine::unpack_room(policies(&["preset=aizuchi"]), &state.packed).unwrap();
    assert!(!serde_json::to_string(&engine.snapshot()).unwrap().contains("Schnurri"));
    node.restate.call(&room(), "next", &[stamped("m2", START + Span(30), "lovely day")]).await.unwrap();
    assert_eq!(heard(&node).await, ["m1", "m2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anyone_who_is_forgotten_is_not_in_the_state_of_the_room() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    let told = [stamped("m1", START, "my cat is called Schnurri"), stamped("m2", START + Span(10), "lovely day")];
    node.restate.call(&room(), "first", &told).await.unwrap();
    let knows = async || {
        let state = node.state(&room()).await;
        let engine = Engine::unpack_room(policies(&["preset=aizuchi"]), &state.packed).unwrap();
        serde_json::to_string(&engine.snapshot()).unwrap().contains("Schnurri")
    };
    assert!(knows().await, "it hears what is said");
    let ids = vec![PersonId::new("mia")];
    let request = ForgetRequest { ids, rooms: vec![room()], ..ForgetRequest::default() };
    let forgetting = Forgetting { at: START + Span(20), request };
    node.restate.forget(&room(), "forget", &forgetting).await.unwrap();
    assert!(!knows().await, "it has to forget them");
    node.rest(&models, &[room()]).await;
}

/// What is not over, with the number of its attempts.
async fn attempts(node: &OneNode) -> Vec<(String, u64)> {
    let query = "SELECT status, retry_count AS attempts FROM sys_invocation WHERE status <> 'completed'";
    let rows = node.restate.query(query).await.unwrap();
    rows.iter()
        .map(|row| (row["status"].as_str().unwrap().to_owned(), row["attempts"].as_u64().unwrap_or_default()))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_room_without_a_worker_is_tried_for_as_long_as_that_takes_and_one_that_is_paused_can_be_resumed() {
    let (node, models) = node(&["preset=aizuchi"], Clock::standing_at(START)).await;
    node.restate.call(&room(), "first", &[stamped("m1", START, "good morning")]).await.unwrap();
    node.end_worker();
    node.restate.tell(&room(), "second", &[stamped("m2", START + Span(10), "lovely day")]).await.unwrap();
    eventually("it is tried more often than Restate does by itself", async || {
        let waiting = attempts(&node).await;
        assert!(waiting.iter().all(|(status, _)| status != "paused"), "{waiting:?}");
        waiting.iter().any(|(_, attempts)| *attempts > 4).then_some(())
    })
    .await;
    // As an earlier build had it after its last attempt.
    let rows = node.restate.query("SELECT id FROM sys_invocation WHERE status = 'backing-off'").await.unwrap();
    let url = format!("{}/invocations/{}/pause", node.server.admin(), rows[0]["id"].as_str().unwrap());
    let paused = reqwest::Client::new().patch(url).send().await.unwrap();
    assert!(paused.status().is_success(), "{paused:?}");
    eventually("it is paused", async || (attempts(&node).await[0].0 == "paused").then_some(())).await;
    node.start_worker().await;
    assert!(node.restate.stuck().await.unwrap()[0].needs_help());
    assert_eq!(node.restate.resume_paused().await, Ok(1));
    node.rest(&models, &[room()]).await;
    let heard = node.records().await.iter().filter(|record| matches!(record.input, Input::Said(_))).count();
    assert_eq!(heard, 2);
    assert_eq!(node.restate.resume_paused().await, Ok(0));
}
