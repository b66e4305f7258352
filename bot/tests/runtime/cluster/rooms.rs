//! What a room does with what it is told: once, in order, and whatever else happens.

use std::sync::Arc;

use aizuchi::cluster::Stamped;
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
    Stamped { at, input: said(id, at, "mia", text) }
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
async fn whoever_is_forgotten_is_not_in_the_state_of_the_room() {
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
    let forgetting = json!({"at": START + Span(20), "request": request});
    node.restate.forget(&room(), &forgetting).await.unwrap();
    assert!(!knows().await, "it is told to forget them");
    node.rest(&models, &[room()]).await;
}
