//! Providers that are busy, broken, slow or wrong: what is tried again, what is not, and what is reported.

use aizuchi_test_servers::models::{ModelServer, ServerEvent, Step, openai_answer};
use aizuchi_test_servers::ports::free_address;
use serde_json::json;

use super::minds::{Asker, KEY, text, told};

const MODEL: &str = "openai/m";

fn verdict() -> Step {
    Step::json(openai_answer(r#"{"respond": true}"#))
}

#[tokio::test]
async fn a_busy_provider_is_asked_again_when_it_says() {
    let busy = || Step::status(429, &[("retry-after-ms", "5")], json!({"error": {"message": "slow down"}}));
    let server = ModelServer::start([busy(), busy(), verdict()]).await;
    assert_eq!(text(Asker::new(server.port, "").judge(MODEL).await), r#"{"respond": true}"#);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn a_broken_provider_is_asked_again() {
    let server = ModelServer::start([Step::status(500, &[], "oops"), verdict()]).await;
    assert_eq!(text(Asker::new(server.port, "").judge(MODEL).await), r#"{"respond": true}"#);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let server = ModelServer::start([Step::Cut(openai_answer("half")), verdict()]).await;
    assert_eq!(text(Asker::new(server.port, "").judge(MODEL).await), r#"{"respond": true}"#);
}

#[tokio::test]
async fn trying_again_has_an_end() {
    let busy = || Step::status(529, &[("retry-after", "0")], json!({"error": {"message": "overloaded"}}));
    let server = ModelServer::start([busy(), busy(), verdict()]).await;
    let asker = Asker::new(server.port, "[models]\nretries_max = 1");
    assert_eq!(told(asker.judge(MODEL).await), "openai server error (status 529): overloaded");
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn a_wait_longer_than_the_answer_is_worth_is_not_begun() {
    let server = ModelServer::start([Step::status(429, &[("retry-after", "7200")], "{}"), verdict()]).await;
    assert!(told(Asker::new(server.port, "").judge(MODEL).await).starts_with("rate limited by openai"));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn a_wrong_key_is_told_by_its_variable_and_never_shown() {
    let echo = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}});
    for (model, variable) in
        [(MODEL, "OPENAI_API_KEY"), ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"), ("google/g", "GEMINI_API_KEY")]
    {
        let server = ModelServer::start([Step::status(401, &[], &echo), verdict()]).await;
        let told = told(Asker::new(server.port, "").judge(model).await);
        assert!(told.starts_with(&format!("the key in {variable} was refused by")), "{told}");
        assert_eq!(server.seen().len(), 1, "it is not tried again");
    }
    let server = ModelServer::start([Step::status(403, &[], &echo)]).await;
    assert!(!told(Asker::new(server.port, "").judge(MODEL).await).contains(KEY));
}

#[tokio::test]
async fn nonsense_is_told_as_such() {
    let page = Step::status(200, &[("content-type", "text/html")], "<html>hello</html>");
    let server = ModelServer::start([page]).await;
    assert!(told(Asker::new(server.port, "").judge(MODEL).await).contains("check the URL"));
    let server = ModelServer::start([Step::json(r#"{"hello": "world"}"#)]).await;
    assert!(told(Asker::new(server.port, "").judge("anthropic/c").await).contains("check the provider's format"));
    let server = ModelServer::start([Step::status(404, &[], "{}")]).await;
    assert!(told(Asker::new(server.port, "").judge(MODEL).await).contains("has no model \"m\""));
}

#[tokio::test]
async fn an_empty_answer_is_none() {
    let thought = Step::json(openai_answer("<think>hm</think>"));
    let server =
        ModelServer::start([Step::json(openai_answer("")), thought, Step::json(openai_answer("<think>hm</think>ok"))])
            .await;
    let asker = Asker::new(server.port, "[models]\nretries_max = 0");
    assert_eq!(told(asker.judge(MODEL).await), "m returned an empty answer");
    assert_eq!(told(asker.write(MODEL, true).await), "m returned an empty answer");
    assert_eq!(text(asker.write(MODEL, true).await), "ok");
    let spent = json!({"choices": [{"finish_reason": "length", "message": {"content": "<think>hm"}}]});
    let server = ModelServer::start([Step::json(spent)]).await;
    assert!(told(Asker::new(server.port, "").judge(MODEL).await).contains("raise models.thinking_tokens"));
}

#[tokio::test]
async fn who_is_slow_is_given_up() {
    let mut server = ModelServer::start([Step::Silence]).await;
    let asker = Asker::new(server.port, "[models]\ntimeout_seconds = 1\nretries_max = 0");
    assert_eq!(told(asker.judge(MODEL).await), "no answer within 1 s");
    assert_eq!((server.next().await, server.next().await), (ServerEvent::Asked, ServerEvent::Left));
}

#[tokio::test]
async fn nobody_there_is_told_with_the_address() {
    let port = free_address().port();
    let told = told(Asker::new(port, "[models]\nretries_max = 0").judge(MODEL).await);
    assert_eq!(told, format!("cannot reach openai at http://127.0.0.1:{port}/v1/"));
}

#[tokio::test]
async fn a_refused_schema_is_left_out_and_not_asked_for_again() {
    let refused = Step::status(400, &[], json!({"error": {"message": "response_format is not supported"}}));
    let server = ModelServer::start([refused, verdict(), verdict()]).await;
    let asker = Asker::new(server.port, "");
    assert_eq!(text(asker.judge(MODEL).await), r#"{"respond": true}"#);
    assert_eq!(text(asker.judge(MODEL).await), r#"{"respond": true}"#);
    let asked: Vec<bool> = server.seen().iter().map(|seen| seen.body.get("response_format").is_some()).collect();
    assert_eq!(asked, [true, false, false]);
}
