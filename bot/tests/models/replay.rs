//! A recorded channel judged by real models: their words decide, their time and their price count.

use std::sync::Arc;

use aizuchi::models::providers::Variables;
use aizuchi::models::{Models, try_call};
use aizuchi::ports::ModelClient;
use aizuchi::prompts::Prompts;
use aizuchi::replay::{Judge, OwnPosts, ReplaySummary, run};
use aizuchi_core::Policies;
use aizuchi_core::settings::Layers;
use aizuchi_formats::Options;
use aizuchi_test_servers::models::{ModelServer, Step, openai_answer};

use super::minds::{KEY, environment, policies, settings};

const LOG: &str = r#"
{"ts": 0, "channel": "c", "id": "1", "author": "ann", "text": "does anybody know how to prune a fig?"}
"#;

fn replay_policies(port: u16) -> Policies {
    let mut layers = Layers::default();
    let models =
        "[models]\nmain = \"openai/writer\"\njudge = \"openai/judge\"\n[prices]\n\"openai/judge\" = [1.0, 1.0]";
    layers.add_file("test.toml", &settings(port, models));
    layers.suggest_for_replay();
    layers.resolve(&|_| None).unwrap()
}

/// The model blocks while it is asked: the server needs a thread of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn live_models_decide_a_replay() {
    let verdict = r#"{"respond": true, "kind": "full", "delay_seconds": 0, "reason": "helps"}"#;
    let server =
        ModelServer::start([Step::json(openai_answer(verdict)), Step::json(openai_answer("In winter."))]).await;
    let policies = replay_policies(server.port);
    let decided = tokio::task::spawn_blocking(move || {
        let models = || {
            Ok(Arc::new(Models::new(Arc::new(Prompts::new("".into())), &policies, &environment)?)
                as Arc<dyn ModelClient>)
        };
        let world = Judge::Live.oracle(&policies, models).unwrap();
        let log = aizuchi_formats::read_text("log", LOG.trim().as_bytes(), &Options::default(), &mut |_| ()).unwrap();
        run(policies.clone(), world, log.events, OwnPosts::Ignored, &mut |_| ())
    })
    .await
    .unwrap();
    let summary = ReplaySummary::of(&decided);
    // The judge at its price, the writer, which has none, at the most expensive of its provider: one dollar in and two out.
    assert_eq!((summary.replies, summary.judge_calls, summary.micros), (1, 1, 13 + 16), "{:?}", decided[0].trace);
    let asked: Vec<String> = server.seen().iter().map(|seen| seen.body["model"].as_str().unwrap().into()).collect();
    assert_eq!(asked, ["judge", "writer"]);
}

#[tokio::test]
async fn one_tiny_call_tells_whether_a_model_is_there() {
    let server = ModelServer::start([Step::json(openai_answer("yes")), Step::status(401, &[], "{}")]).await;
    let policies = policies(&settings(server.port, ""));
    let (policy, variables) = (policies.general(), Variables::read(&policies, &environment));
    let (reply, _) = try_call("openai/m", policy, &variables).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.tokens_in), ("yes", Some(10)));
    assert_eq!(server.seen()[0].headers["authorization"], format!("Bearer {KEY}"));
    let told = try_call("openai/m", policy, &variables).await.unwrap_err();
    assert_eq!(told, "the key in OPENAI_API_KEY was refused by openai");
    assert_eq!(try_call("offline", policy, &variables).await.unwrap().0.text, "offline");
    assert!(try_call("opnai/m", policy, &variables).await.unwrap_err().contains("did you mean \"openai\"?"));
}
