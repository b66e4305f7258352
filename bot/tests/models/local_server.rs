//! Servers on this machine that are looked for where nobody has chosen a model: who is used, and who is not.

use aizuchi::models::{LocalModel, choose, find_local_model};
use aizuchi_core::settings::{Layers, PriceBasis};
use aizuchi_test_servers::models::{ModelServer, Step};

const NAMES: [&str; 3] = ["ollama", "llamacpp", "lmstudio"];
/// Longer than a list takes on a busy machine.
const PATIENT: &str = "models.local_server_ms=60000";
const OLLAMA_LIST: &str = r#"{"object": "list", "data": [
    {"id": "nomic-embed-text:latest", "object": "model", "created": 1731000000, "owned_by": "library"},
    {"id": "gpt-oss:120b-cloud", "object": "model", "created": 1731000000, "owned_by": "library"},
    {"id": "llama3.2:latest", "object": "model", "created": 1730000000, "owned_by": "library"},
    {"id": "qwen3:4b", "object": "model", "created": 1729000000, "owned_by": "library"}]}"#;
const LM_STUDIO_LIST: &str = r#"{"object": "list", "data": [
    {"id": "text-embedding-nomic-embed-text-v1.5", "object": "model", "owned_by": "organization_owner"},
    {"id": "qwen/qwen3-4b", "object": "model", "owned_by": "organization_owner"}]}"#;

fn nothing(_: &str) -> Option<String> {
    None
}

/// Settings with each server at the address of one of these, in the order of `NAMES`.
fn settings(servers: &[&ModelServer; 3], more: &[&str]) -> Layers {
    let mut layers = aizuchi::config::new_layers();
    for (name, server) in NAMES.iter().zip(servers) {
        layers.add_assignment(&format!("providers.{name}.url=http://127.0.0.1:{}/v1/", server.port));
    }
    more.iter().for_each(|assignment| layers.add_assignment(assignment));
    layers
}

async fn refusing() -> ModelServer {
    ModelServer::start([]).await
}

async fn find(layers: &Layers) -> Option<LocalModel> {
    find_local_model(layers, &nothing, None).await.expect("the settings are right")
}

#[tokio::test]
async fn the_first_chat_model_of_the_first_server_judges_and_writes_for_nothing() {
    let (ollama, lm_studio) =
        (ModelServer::start([Step::json(OLLAMA_LIST)]).await, ModelServer::start([Step::json(LM_STUDIO_LIST)]).await);
    let mut layers = settings(&[&ollama, &refusing().await, &lm_studio], &[PATIENT]);
    let found = find(&layers).await.expect("two answer");
    assert_eq!(found.to_string(), format!("llama3.2:latest of Ollama at 127.0.0.1:{}", ollama.port));
    assert_eq!(ollama.seen()[0].line, "GET /v1/models");

    let choice = choose(&mut layers, &nothing, Some(&found)).unwrap();
    assert_eq!([&*choice.main, &choice.judge], ["ollama/llama3.2:latest"; 2]);
    assert_eq!(choice.told, format!("No key is set: using {found}."));
    let policies = layers.resolve(&|_| None).unwrap();
    let policy = policies.general();
    assert_eq!([policy.settings.models.main.as_str(), policy.judge_model()], ["ollama/llama3.2:latest"; 2]);
    assert_eq!(policy.settings.pricing(&choice.main).basis, PriceBasis::Home);
}

#[tokio::test]
async fn a_later_server_of_the_table_is_used_where_the_earlier_ones_have_nothing() {
    let lm_studio = ModelServer::start([Step::json(LM_STUDIO_LIST)]).await;
    let empty = ModelServer::start([Step::json(r#"{"object": "list", "data": []}"#)]).await;
    let found = find(&settings(&[&refusing().await, &empty, &lm_studio], &[PATIENT])).await.expect("one answers");
    assert_eq!(found.to_string(), format!("qwen/qwen3-4b of LM Studio at 127.0.0.1:{}", lm_studio.port));
    assert_eq!(found.full_name(), "lmstudio/qwen/qwen3-4b");
}

#[tokio::test]
async fn ollama_is_understood_in_its_own_format_too() {
    let ollama =
        ModelServer::start([Step::json(r#"{"models": [{"name": "bge-m3:latest"}, {"name": "gemma3:4b"}]}"#)]).await;
    let mut layers = settings(&[&refusing().await, &refusing().await, &refusing().await], &[PATIENT]);
    layers.add_assignment("providers.ollama.format=ollama");
    layers.add_assignment(&format!("providers.ollama.url=http://127.0.0.1:{}", ollama.port));
    assert_eq!(find(&layers).await.expect("it answers").full_name(), "ollama/gemma3:4b");
    assert_eq!(ollama.seen()[0].line, "GET /api/tags");
}

#[tokio::test]
async fn what_is_no_model_server_is_not_used() {
    let long = format!(r#"{{"data": [{{"id": "{}"}}]}}"#, "x".repeat(300));
    let endless = format!(r#"{{"data": [{{"id": "x"}}], "rest": "{}"}}"#, "x".repeat(2 << 20));
    for odd in [
        Step::json("<html>It works!</html>"),
        Step::json("[]"),
        Step::json(r#"{"data": "none"}"#),
        Step::json(r#"{"data": [{"id": ""}, {"id": 7}, {"id": "a\u001b[31mb"}, {"id": "all-minilm"}]}"#),
        Step::json(long),
        Step::json(endless),
        Step::status(500, &[], OLLAMA_LIST),
        Step::status(307, &[("location", "/elsewhere")], OLLAMA_LIST),
        Step::Cut(OLLAMA_LIST.into()),
    ] {
        let server = ModelServer::start([odd, Step::json(OLLAMA_LIST)]).await;
        let found = find(&settings(&[&server, &refusing().await, &refusing().await], &[PATIENT])).await;
        assert_eq!(found, None);
        assert_eq!(server.seen().len(), 1, "it was asked, and once");
    }
}

#[tokio::test]
async fn who_hangs_is_not_waited_for() {
    let silent =
        [ModelServer::start([Step::Silence]).await, refusing().await, ModelServer::start([Step::Silence]).await];
    let layers = settings(&[&silent[0], &silent[1], &silent[2]], &["models.local_server_ms=20"]);
    assert_eq!(find(&layers).await, None);
}

#[tokio::test]
async fn nobody_is_asked_where_a_model_is_chosen_or_a_key_is_set_or_it_is_turned_off() {
    let server = ModelServer::start([Step::json(OLLAMA_LIST)]).await;
    let servers = [&server; 3];
    for chosen in ["models.main=offline", "models.judge=offline", "models.local_server=false"] {
        assert_eq!(find(&settings(&servers, &[PATIENT, chosen])).await, None, "{chosen}");
    }
    let key = |name: &str| (name == "OPENAI_API_KEY").then(|| "k".to_owned());
    assert_eq!(find_local_model(&settings(&servers, &[PATIENT]), &key, None).await.unwrap(), None);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_would_send_a_bill_is_not_asked() {
    let server = ModelServer::start([Step::json(OLLAMA_LIST)]).await;
    let mut layers = settings(&[&server; 3], &[PATIENT]);
    for name in NAMES {
        layers.add_assignment(&format!("providers.{name}.url=https://models.example/v1/"));
    }
    layers.add_assignment(&format!("providers.litellm.url=http://127.0.0.1:{}/v1/", server.port));
    assert_eq!(find(&layers).await, None);
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn what_was_found_is_kept_until_its_address_changes() {
    let server = ModelServer::start([Step::json(OLLAMA_LIST)]).await;
    let layers = settings(&[&server, &refusing().await, &refusing().await], &[PATIENT]);
    let found = find(&layers).await;
    let again = find_local_model(&layers, &nothing, found.as_ref()).await.unwrap();
    assert!(found.is_some() && again == found && server.seen().len() == 1);

    let other = ModelServer::start([Step::json(LM_STUDIO_LIST)]).await;
    let layers = settings(&[&other, &refusing().await, &refusing().await], &[PATIENT]);
    let moved = find_local_model(&layers, &nothing, found.as_ref()).await.unwrap().expect("the other one answers");
    assert_eq!(moved.full_name(), "ollama/qwen/qwen3-4b");
}
