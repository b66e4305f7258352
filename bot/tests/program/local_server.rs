//! Without a key, a model server on this machine judges and writes.
#![cfg(unix)]

use std::process::Command;

use aizuchi_test_servers::models::{ModelServer, Step, openai_answer};
use aizuchi_test_servers::visitor::Visitor;

use crate::program::{Home, eventually, new_home};

const LIST: &str = r#"{"object": "list", "data": [{"id": "all-minilm:l6-v2"}, {"id": "llama3.2"}]}"#;

/// Ollama is this server; the others are not there.
fn home(server: &ModelServer) -> Home {
    let mut home = new_home(&["models.local_server=true", "models.local_server_ms=60000", "models.retries_max=0"]);
    home.set(format!("providers.ollama.url=http://127.0.0.1:{}/v1/", server.port));
    for other in ["llamacpp", "lmstudio"] {
        home.set(format!("providers.{other}.url=http://127.0.0.1:1/v1/"));
    }
    home
}

#[tokio::test]
async fn it_answers_by_the_server_and_everybody_is_told_which() {
    let server = ModelServer::start([Step::json(LIST), Step::json(openai_answer("quite well"))]).await;
    let place = home(&server);
    let program = place.start().await;
    let which = format!("llama3.2 of Ollama at 127.0.0.1:{}", server.port);
    eventually("the greeting and the log", async || {
        let said = program.said();
        let is_told = said.contains(&format!("No key is set: using {which}."))
            && said.contains("no key is set; using a model server on this machine");
        is_told.then_some(())
    })
    .await;

    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "@aizuchi how are you?").await;
    let words = loop {
        let message = mia.next("said").await["message"].clone();
        if message["voice"] == "Me" {
            break message["text"].as_str().unwrap().to_owned();
        }
    };
    assert_eq!(words, "quite well");
    assert_eq!(server.seen()[1].body["model"], "llama3.2");
    let status = mia.order("/status").await;
    assert!(
        status.contains(&format!("ollama/llama3.2 (no key is set; Ollama at 127.0.0.1:{})", server.port)),
        "{status}"
    );
}

#[tokio::test]
async fn settings_that_are_read_again_keep_the_server_though_it_is_away() {
    let server = ModelServer::start([Step::json(LIST)]).await;
    let place = home(&server);
    let program = place.start().await;
    drop(server);
    let sent = Command::new("sh").args(["-c", &format!("kill -HUP {}", program.id())]).status();
    assert!(sent.expect("there is a shell").success());
    let words = "settings reloaded; nothing changed";
    eventually(words, async || program.said().contains(words).then_some(())).await;
}

#[tokio::test]
async fn without_a_server_it_is_offline_and_looks_again_with_the_settings() {
    let server = ModelServer::start([Step::json("{}"), Step::json(LIST)]).await;
    let place = home(&server);
    let program = place.start().await;
    assert!(program.said().contains("No model is connected"), "{}", program.said());
    let sent = Command::new("sh").args(["-c", &format!("kill -HUP {}", program.id())]).status();
    assert!(sent.expect("there is a shell").success());
    let words = format!("No key is set: using llama3.2 of Ollama at 127.0.0.1:{}.", server.port);
    eventually(&words, async || program.said().contains(&words).then_some(())).await;
}
