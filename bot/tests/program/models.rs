//! Models that refuse, talk nonsense or take for ever: the person who asked gets a friendly line, everybody else goes on.

use std::sync::Mutex;
use std::time::Duration;

use aizuchi_test_servers::models::{ModelServer, ServerEvent, Step, openai_answer};
use aizuchi_test_servers::visitor::Visitor;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::program::{Home, Program, eventually, new_home};

const KEY: &str = "sk-do-not-tell";
const EXCUSE: &str = "Sorry, I can't find the words right now. Please try me again in a bit.";

fn home(server: &ModelServer, settings: &[&str]) -> Home {
    let mut home = new_home(settings);
    home.set("models.main=openai/some-model");
    home.set("models.judge=openai/some-model");
    home.set("models.retries_max=0");
    home.set(format!("providers.openai.url=http://127.0.0.1:{}/v1/", server.port));
    home.set_variable("OPENAI_API_KEY", KEY);
    home
}

/// The next thing the bot says.
async fn answer(visitor: &mut Visitor) -> String {
    loop {
        let message = visitor.next("said").await["message"].clone();
        if message["voice"] == "Me" {
            return message["text"].as_str().unwrap().to_owned();
        }
    }
}

async fn decision(visitor: &mut Visitor, id: &str) -> Value {
    loop {
        let trace = visitor.next("decided").await["trace"].clone();
        if trace["id"] == id {
            return trace;
        }
    }
}

async fn logs(program: &Program, words: &str) -> String {
    eventually(words, async || Some(program.said()).filter(|said| said.contains(words))).await
}

#[tokio::test]
async fn a_wrong_key() {
    let refusal = || Step::status(401, &[], format!(r#"{{"error": {{"message": "Incorrect API key: {KEY}"}}}}"#));
    let server = ModelServer::start([refusal(), refusal()]).await;
    let place = home(&server, &["response.min_wait_seconds=0"]);
    let program = place.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = mia.say("1", "@aizuchi are you there?").await;
    assert_eq!(answer(&mut mia).await, EXCUSE);
    let said = logs(&program, "the key in OPENAI_API_KEY was refused by openai").await;
    assert!(!said.contains(KEY), "{said}");
    let trace = decision(&mut mia, &id).await;
    assert!(trace["reason"].as_str().unwrap().contains("OPENAI_API_KEY"), "{trace}");
    assert!(!trace.to_string().contains(KEY), "{trace}");
    let header = &server.seen()[0].headers["authorization"];
    assert!(header.contains(KEY), "it was really asked with the key");
}

#[tokio::test]
async fn nonsense() {
    let nonsense = || Step::status(200, &[("content-type", "text/html")], "<html>It works!</html>");
    let server = ModelServer::start([nonsense(), Step::json(openai_answer("purple monkey")), nonsense()]).await;
    let settings = ["response.min_wait_seconds=0", "response.adaptive=false", "score.low=0", "points.question=80"];
    let place = home(&server, &settings);
    let program = place.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    // Nobody asked it: it stays out of it, and says why if somebody wants to know.
    for (key, reason) in [("1", "check the URL"), ("2", "purple monkey")] {
        let id = mia.say(key, &format!("does anybody know the way, {key}?")).await;
        let trace = decision(&mut mia, &id).await;
        assert_eq!((trace["outcome"].as_str(), trace["stage"].as_str()), (Some("silent"), Some("judge")), "{trace}");
        let told = format!("{} {}", trace["reason"], trace["asked"]);
        assert!(told.contains(reason), "{trace}");
    }
    mia.say("3", "@aizuchi which way?").await;
    assert_eq!(answer(&mut mia).await, EXCUSE);
    assert!(program.get("/ready").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn one_that_takes_for_ever() {
    let mut server = ModelServer::start([Step::Silence, Step::json(openai_answer("Past the mill."))]).await;
    let place = home(&server, &["models.timeout_seconds=6"]);
    let program = place.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(program.address, "garden", "jonas").await;
    let id = mia.say("1", "@aizuchi which way?").await;
    assert_eq!(server.next().await, ServerEvent::Asked);
    jonas.say("1", "@aizuchi which way?").await;
    assert_eq!(answer(&mut jonas).await, "Past the mill.");
    assert_eq!(answer(&mut mia).await, EXCUSE);
    let reason = decision(&mut mia, &id).await["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("no answer within 6 s"), "{reason}");
}

/// People went on before a slow model had answered, and muted it with that.
#[tokio::test]
async fn a_sample_waits_for_a_slow_model() {
    let (release, held) = oneshot::channel();
    let held = Mutex::new(Some(held));
    let server = ModelServer::answering(move |request| {
        let is_mention = request.body.to_string().contains("what would you do tonight");
        match held.lock().expect("nobody panics with it").take_if(|_| is_mention) {
            Some(held) => Step::Held(held, openai_answer("A fleece over them.")),
            None => Step::json(openai_answer("Below ten degrees they stop growing.")),
        }
    })
    .await;
    let mut place = home(&server, &["response.min_wait_seconds=0"]);
    place.set("models.judge=offline");
    let program = place.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.send(json!({"do": "sample", "language": "en"})).await;
    let room = mia.next("moved").await["room"].as_str().expect("it has a name").to_owned();
    mia.send(json!({"do": "enter", "room": room, "name": "mia", "person": mia.person, "since": 0})).await;
    while !mia.next("said").await["message"]["text"].as_str().is_some_and(|text| text.contains("@aizuchi")) {}
    // The next line would come within five seconds.
    let next = tokio::time::timeout(Duration::from_secs(7), mia.next("said")).await;
    assert!(next.is_err(), "somebody goes on: {next:?}");
    release.send(()).expect("it waits");
    assert_eq!(answer(&mut mia).await, "A fleece over them.");
    assert_eq!(mia.next("said").await["message"]["voice"], "Person", "people go on");
}
