//! Whose turn it is, and what becomes of a call that is no longer wanted.

use aizuchi_test_servers::models::{ModelServer, ServerEvent, Step, openai_answer};
use futures_util::FutureExt as _;
use tokio::sync::oneshot;

use super::minds::{Asker, text, told};

const MODEL: &str = "openai/m";

fn answer() -> Step {
    Step::json(openai_answer("ok"))
}

#[tokio::test]
async fn an_aborted_call_is_really_cancelled() {
    let mut server = ModelServer::start([Step::Silence, answer()]).await;
    let asker = Asker::new(server.port, "[models]\nparallel_max = 1");
    let call = tokio::spawn(asker.judge(MODEL));
    assert_eq!(server.next().await, ServerEvent::Asked);
    call.abort();
    assert_eq!(server.next().await, ServerEvent::Left);
    assert_eq!(text(asker.write(MODEL, true).await), "ok", "its turn is free again");
}

#[tokio::test]
async fn people_who_addressed_it_are_answered_first() {
    let (go, held) = oneshot::channel();
    let mut server = ModelServer::start([Step::Held(held, openai_answer("ok")), answer(), answer(), answer()]).await;
    let asker = Asker::new(server.port, "[models]\nparallel_max = 1");
    let first = tokio::spawn(asker.judge(MODEL));
    assert_eq!(server.next().await, ServerEvent::Asked);
    let mut unasked = asker.write(MODEL, false);
    let mut addressed = asker.write("openai/for-a-person", true);
    assert!(unasked.as_mut().now_or_never().is_none() && addressed.as_mut().now_or_never().is_none());
    go.send(()).unwrap();
    let (first, unasked, addressed) = tokio::join!(first, unasked, addressed);
    assert!(first.unwrap().is_ok() && unasked.is_ok() && addressed.is_ok());
    let order: Vec<String> = server.seen().iter().map(|seen| seen.body["model"].as_str().unwrap().into()).collect();
    assert_eq!(order, ["m", "for-a-person", "m"]);
}

#[tokio::test]
async fn the_queue_has_an_end() {
    let (go, held) = oneshot::channel();
    let mut server = ModelServer::start([Step::Held(held, openai_answer("ok")), answer()]).await;
    let asker = Asker::new(server.port, "[models]\nparallel_max = 1\nwaiting_max = 1");
    let first = tokio::spawn(asker.judge(MODEL));
    assert_eq!(server.next().await, ServerEvent::Asked);
    let mut waits = asker.judge(MODEL);
    assert!(waits.as_mut().now_or_never().is_none());
    assert_eq!(told(asker.judge(MODEL).await), "the call was not made: too many calls are waiting");
    let mut person = asker.write(MODEL, true);
    assert!(person.as_mut().now_or_never().is_none(), "takes the place");
    assert_eq!(told(waits.await), "the call was not made: an addressed call took its place in the queue");
    go.send(()).unwrap();
    assert!(first.await.unwrap().is_ok());
    assert_eq!(text(person.await), "ok");
}

#[tokio::test]
async fn as_many_calls_as_are_allowed_run_at_once() {
    let (first_go, first) = oneshot::channel();
    let (second_go, second) = oneshot::channel();
    let held = |go| Step::Held(go, openai_answer("ok"));
    let mut server = ModelServer::start([held(first), held(second)]).await;
    let asker = Asker::new(server.port, "[models]\nparallel_max = 2");
    let calls = [tokio::spawn(asker.judge(MODEL)), tokio::spawn(asker.write(MODEL, true))];
    assert_eq!((server.next().await, server.next().await), (ServerEvent::Asked, ServerEvent::Asked));
    first_go.send(()).unwrap();
    second_go.send(()).unwrap();
    for call in calls {
        assert!(call.await.unwrap().is_ok());
    }
}

#[tokio::test]
async fn the_built_in_model_needs_nobody() {
    let asker = Asker::new(9, "");
    let verdict = text(asker.judge("offline").await);
    assert!(verdict.contains("offline rule: "), "{verdict}");
    assert!(text(asker.write("offline", true).await).ends_with("(offline: no model is connected)"));
}
