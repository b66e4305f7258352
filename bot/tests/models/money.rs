//! What a call is said to have cost: every request that may have been paid for, whatever came of it.

use aizuchi::meter::Meter;
use aizuchi::models::Embeddings;
use aizuchi::ports::Embedder as _;
use aizuchi_core::effect::{Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Price;
use aizuchi_test_servers::models::{ModelServer, Step, openai_answer};
use aizuchi_test_servers::ports::free_address;
use serde_json::json;

use super::minds::{Asker, environment, policies, settings};

/// A model with a listed price: a quarter of a dollar in, two out.
const LISTED: &str = "openai/gpt-5-mini";

fn paid(result: &Result<Answer, Failure>) -> Usage {
    match result {
        Ok(answer) => answer.usage,
        Err(failure) => failure.usage.expect("it is known what it cost"),
    }
}

fn yes() -> Step {
    Step::json(openai_answer(r#"{"respond": true}"#))
}

#[tokio::test]
async fn an_attempt_that_said_nothing_is_paid_for_too() {
    let server = ModelServer::start([Step::json(openai_answer("")), yes()]).await;
    let usage = paid(&Asker::new(server.port, "").judge(LISTED).await);
    assert_eq!(server.seen().len(), 2);
    // Ten tokens in and three out, each time.
    assert_eq!((usage.calls, usage.tokens_in, usage.tokens_out, usage.micros), (2, 20, 6, 18));
}

#[tokio::test]
async fn a_failure_costs_what_it_cost() {
    let asker = |port| Asker::new(port, "[models]\nretries_max = 0\ntimeout_seconds = 3");
    let server = ModelServer::start([Step::json(openai_answer(""))]).await;
    let failed = asker(server.port).judge(LISTED).await;
    assert!(failed.is_err());
    assert_eq!((paid(&failed).calls, paid(&failed).micros), (1, 9));
    // Refused requests and those that never arrive are not paid for.
    for step in [Step::status(401, &[], "{}"), Step::status(429, &[], "{}"), Step::status(500, &[], "oops")] {
        let server = ModelServer::start([step]).await;
        let usage = paid(&asker(server.port).judge(LISTED).await);
        assert_eq!((usage.calls, usage.tokens_in, usage.tokens_out, usage.micros), (0, 0, 0, 0));
    }
    let nobody = free_address().port();
    assert_eq!(paid(&asker(nobody).judge(LISTED).await).calls, 0);
    // What broke off, or took too long, may have been: as much as it was allowed to say.
    for step in [Step::Cut(openai_answer("half")), Step::Silence] {
        let server = ModelServer::start([step]).await;
        let usage = paid(&asker(server.port).judge(LISTED).await);
        assert!(usage.calls == 1 && usage.tokens_out >= 50 && usage.micros >= 100, "{usage:?}");
    }
}

#[tokio::test]
async fn a_model_without_a_price_is_billed_as_the_dearest_of_its_provider() {
    let server = ModelServer::start([yes(), yes()]).await;
    let asker = Asker::new(server.port, "[prices]\n\"openai/gratis\" = [0.0, 0.0]");
    let dearest = Price { input: 0.25, output: 2.0, cached: None }.micros(10, 3);
    assert_eq!(paid(&asker.judge("openai/unheard-of").await).micros, dearest);
    assert_eq!(paid(&asker.judge("openai/gratis").await).micros, 0);
}

#[tokio::test]
async fn vectors_are_counted_with_every_attempt() {
    let vectors = || {
        let data = json!([{"object": "embedding", "index": 0, "embedding": [1.0, 0.0]}]);
        Step::json(
            json!({"object": "list", "model": "m", "usage": {"prompt_tokens": 7, "total_tokens": 7}, "data": data}),
        )
    };
    let busy = Step::status(503, &[("retry-after", "0")], "{}");
    let server = ModelServer::start([busy, Step::Cut("{\"object\": \"list\"}".into()), vectors()]).await;
    let policies = policies(&settings(server.port, "models.embed = \"openai/e\""));
    let embeddings = Embeddings::new(&policies, &environment).unwrap();
    let meter = Meter::at(Price { input: 1.0, output: 0.0, cached: None });
    embeddings.embed(&["a text of thirty characters ok".to_owned()], &meter).await.unwrap();
    assert_eq!(server.seen().len(), 3);
    let usage = meter.usage();
    // What broke off as we counted, what was answered as the provider did.
    assert_eq!((usage.calls, usage.tokens_in, usage.micros), (2, 10 + 7, 17));
}
